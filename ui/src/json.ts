/** JSON values: what workflows take and give, unchanged. */

export type JsonObject = { [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function pretty(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** The JSON in a text that looks like an object or a list; undefined for any other text. */
export function parsedJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value as one short line. */
export function briefly(value: unknown, longest = 120): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const line = text.slice(0, longest * 4).replace(/\s+/g, " ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

export function sizeWords(characters: number): string {
  if (characters < 1000) return `${characters} characters`;
  if (characters < 1_000_000) return `${(characters / 1000).toFixed(1)} thousand characters`;
  return `${(characters / 1_000_000).toFixed(1)} million characters`;
}

/** Whether two JSON values are the same, the order of names aside. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((one, place) => sameJson(one, right[place]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]))
  );
}
