/** Forms from JSON schemas: which field shows a value, and what a typed text means. Nothing here changes a value that nobody edits. */
import { isObject, type JsonObject, pretty, sameJson } from "./json";

export type Schema = JsonObject;

export type Field =
  | { kind: "text" }
  | { kind: "number"; integer: boolean }
  | { kind: "flag" }
  | { kind: "choice"; choices: unknown[] }
  | { kind: "list"; item: Schema }
  /** `more`: the schema of fields that the schema does not name; null if there may be none. */
  | { kind: "record"; fields: NamedField[]; more: Schema | null }
  | { kind: "nullable"; inner: Schema }
  | { kind: "union"; options: Schema[] }
  | { kind: "json" };

export interface NamedField {
  name: string;
  schema: Schema;
  required: boolean;
  /** Named by the schema, not only by the value. */
  known: boolean;
}

const DEEPEST = 20;

/** A schema with its references followed: `#/$defs/Name` and the like. */
export function resolved(schema: unknown, root: Schema): Schema {
  let found = isObject(schema) ? schema : {};
  for (let depth = 0; depth < DEEPEST; depth++) {
    const { $ref: reference, allOf, ...rest } = found;
    if (typeof reference === "string" && reference.startsWith("#/")) {
      let target: unknown = root;
      for (const name of reference.slice(2).split("/")) {
        target = isObject(target) ? target[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
      }
      found = { ...(isObject(target) ? target : {}), ...rest };
    } else if (Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0])) {
      found = { ...allOf[0], ...rest };
    } else {
      return found;
    }
  }
  return found;
}

/** The field for a value; a value that does not fit its schema is shown as JSON, so that it can be seen and mended. */
export function fieldFor(schema: unknown, value: unknown, root: Schema): Field {
  const found = resolved(schema, root);
  const options = optionsOf(found);
  if (options) {
    const others = options.filter((option) => resolved(option, root).type !== "null");
    const [only, another] = others;
    if (only && !another && others.length < options.length) return { kind: "nullable", inner: withNames(only, found) };
    if (only && !another) return fieldFor(only, value, root);
    return { kind: "union", options: options.map((option) => (isObject(option) ? option : {})) };
  }
  const field = plainField(found, value);
  return value === undefined || fits(field, value) ? field : { kind: "json" };
}

/** Which option of a union a value is; -1 if it is none of them. */
export function optionOf(options: readonly Schema[], value: unknown, root: Schema): number {
  if (value === undefined) return -1;
  return options.findIndex((option) => accepts(option, value, root));
}

function accepts(schema: Schema, value: unknown, root: Schema, depth = 0): boolean {
  const found = resolved(schema, root);
  if (found.type === "null") return value === null;
  const options = optionsOf(found);
  if (options) return depth < DEEPEST && options.some((one) => isObject(one) && accepts(one, value, root, depth + 1));
  const field = plainField(found, value);
  if (!fits(field, value)) return false;
  if (field.kind !== "record" || !isObject(value)) return true;
  return field.fields.every((one) => {
    if (!Object.hasOwn(value, one.name)) return !one.required;
    const inner = plainField(resolved(one.schema, root), undefined);
    return inner.kind !== "choice" || fits(inner, value[one.name]);
  });
}

const TYPES: Record<string, string> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  array: "list",
  object: "fields",
  null: "null",
};

/** The name of an option of a union for people. */
export function optionName(option: Schema, root: Schema): string {
  const found = resolved(option, root);
  if (typeof found.title === "string" && found.title) return found.title;
  if ("const" in found) return JSON.stringify(found.const);
  if (Array.isArray(found.enum)) return "a choice";
  return TYPES[String(found.type)] ?? "JSON";
}

function optionsOf(schema: Schema): unknown[] | null {
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options) && options.length) return options;
  // `type: ["string", "null"]` says the same as `anyOf`.
  if (Array.isArray(schema.type)) return schema.type.map((type: unknown) => ({ ...schema, type }));
  return null;
}

function withNames(inner: unknown, outer: Schema): Schema {
  const { title, description } = outer;
  return { ...(isObject(inner) ? inner : {}), ...(title ? { title } : {}), ...(description ? { description } : {}) };
}

function plainField(schema: Schema, value: unknown): Field {
  if (Array.isArray(schema.enum)) return { kind: "choice", choices: schema.enum };
  if ("const" in schema) return { kind: "choice", choices: [schema.const] };
  switch (schema.type) {
    case "string":
      return { kind: "text" };
    case "number":
    case "integer":
      return { kind: "number", integer: schema.type === "integer" };
    case "boolean":
      return { kind: "flag" };
    case "array":
      return { kind: "list", item: isObject(schema.items) ? schema.items : {} };
    case "object":
      return recordField(schema, value);
    default:
      return isObject(schema.properties) ? recordField(schema, value) : { kind: "json" };
  }
}

function recordField(schema: Schema, value: unknown): Field {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const more: unknown = schema.additionalProperties;
  const known = Object.entries(properties).map(([name, one]) => ({
    name,
    schema: isObject(one) ? one : {},
    required: required.includes(name),
    known: true,
  }));
  const others = Object.keys(isObject(value) ? value : {}).filter((name) => !Object.hasOwn(properties, name));
  const extra = others.map((name) => ({ name, schema: isObject(more) ? more : {}, required: false, known: false }));
  return { kind: "record", fields: [...known, ...extra], more: more === false ? null : isObject(more) ? more : {} };
}

/** Whether a field can show a value without changing it. */
export function fits(field: Field, value: unknown): boolean {
  switch (field.kind) {
    case "text":
      // A text area turns other line ends into its own.
      return typeof value === "string" && !value.includes("\r");
    case "number":
      return typeof value === "number" && Number.isFinite(value) && (!field.integer || Number.isInteger(value));
    case "flag":
      return typeof value === "boolean";
    case "choice":
      return field.choices.some((choice) => sameJson(choice, value));
    case "list":
      return Array.isArray(value);
    case "record":
      return isObject(value);
    case "nullable":
    case "union":
    case "json":
      return true;
  }
}

export type Typed = { ok: true; value: unknown } | { ok: false; problem: string };

/** The text in which a value is edited. */
export function typedText(field: Field, value: unknown): string {
  if (value === undefined) return "";
  if (field.kind === "text" && typeof value === "string") return value;
  return field.kind === "json" ? pretty(value) : JSON.stringify(value);
}

/** The value that a typed text means. */
export function typedValue(field: Field, text: string): Typed {
  if (field.kind === "text") return { ok: true, value: text };
  if (!text.trim()) return { ok: true, value: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: field.kind === "number" ? "This is no number." : "This is no valid JSON yet." };
  }
  if (field.kind === "number" && !fits(field, value)) {
    return { ok: false, problem: field.integer ? "This is no whole number." : "This is no number." };
  }
  return { ok: true, value };
}

/** A record with another value under a name; undefined removes it. The order of the others stays. */
export function withField(record: unknown, name: string, value: unknown): JsonObject {
  const entries = Object.entries(isObject(record) ? record : {});
  if (value === undefined) return Object.fromEntries(entries.filter(([other]) => other !== name));
  const found = entries.some(([other]) => other === name);
  const changed = entries.map(([other, one]): [string, unknown] => [other, other === name ? value : one]);
  return Object.fromEntries(found ? changed : [...changed, [name, value]]);
}

/** A list with another item at a place; undefined removes it. */
export function withItem(list: unknown, place: number, value: unknown): unknown[] {
  const items: unknown[] = Array.isArray(list) ? [...list] : [];
  if (value === undefined) items.splice(place, 1);
  else items[place] = value;
  return items;
}

/** What a new item or field starts with. */
export function startValue(schema: unknown, root: Schema, depth = 0): unknown {
  const found = resolved(schema, root);
  if ("default" in found) return found.default;
  const field = fieldFor(found, undefined, root);
  switch (field.kind) {
    case "text":
      return "";
    case "number":
      return 0;
    case "flag":
      return false;
    case "choice":
      return field.choices[0];
    case "list":
      return [];
    case "record": {
      const wanted = depth > DEEPEST ? [] : field.fields.filter((one) => one.required);
      return Object.fromEntries(wanted.map((one) => [one.name, startValue(one.schema, root, depth + 1)]));
    }
    case "union":
      return depth > DEEPEST ? null : startValue(field.options[0], root, depth + 1);
    default:
      return null;
  }
}

/** A record with every field that its schema has a default for. */
export function defaultsOf(schema: unknown, root: Schema): JsonObject {
  const field = plainField(resolved(schema, root), undefined);
  const fields = field.kind === "record" ? field.fields : [];
  const wanted = fields.filter((one) => one.required || "default" in resolved(one.schema, root));
  return Object.fromEntries(wanted.map((one) => [one.name, startValue(one.schema, root)]));
}

/** The name of a field for people. */
export function titleOf(schema: unknown, root: Schema, name: string): string {
  const { title } = resolved(schema, root);
  return typeof title === "string" && title ? title : name;
}
