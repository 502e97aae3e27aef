/** Checks of what an address says after `?`. What is not understood is left out, so that a strange link still opens. */

type Search = Record<string, unknown>;

/** A text, such as `q`: `...text(search, "q")`. */
export function text<Name extends string>(search: Search, name: Name): { [name in Name]?: string } {
  const value = search[name];
  // The router reads `?q=5` as a number.
  const found = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof found === "string" && found ? only(name, found) : {};
}

/** A whole number, such as `row`. */
export function whole<Name extends string>(search: Search, name: Name): { [name in Name]?: number } {
  const value = Number(search[name]);
  return search[name] !== undefined && search[name] !== "" && Number.isInteger(value) ? only(name, value) : {};
}

/** One of some words, such as `tab`. */
export function oneOf<Name extends string, const Word extends string>(
  search: Search,
  name: Name,
  words: readonly Word[],
): { [name in Name]?: Word } {
  const found = words.find((word) => word === search[name]);
  return found === undefined ? {} : only(name, found);
}

function only<Name extends string, Value>(name: Name, value: Value): { [name in Name]?: Value } {
  // TypeScript widens a computed name to a string.
  return { [name]: value } as { [name in Name]?: Value };
}

/** A search with another text in it, or without it: `changed(old, "q", typed)`. */
export function changed<Old extends object, Name extends keyof Old>(
  old: Old,
  name: Name,
  value: Old[Name] | undefined,
): Old {
  const { [name]: _, ...rest } = old;
  // What is left has all other fields of the search, and those are all optional.
  return (value === undefined || value === "" ? rest : { ...rest, [name]: value }) as Old;
}
