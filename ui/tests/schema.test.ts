import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, sameJson } from "../src/json";
import {
  defaultsOf,
  fieldFor,
  fits,
  optionName,
  optionOf,
  resolved,
  type Schema,
  startValue,
  typedText,
  typedValue,
  withField,
  withItem,
} from "../src/schema";

/** Schemas of all kinds, also strange ones. */
const schemas: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Schema>({ type: "string" }, { type: "number" }, { type: "integer" }, { type: "boolean" }, {}),
    fc.constantFrom<Schema>({ enum: ["a", 1, null, { b: 2 }] }, { const: 5 }, { type: ["string", "null"] }),
    fc.constant<Schema>({ $ref: "#/$defs/Text" }),
    tie("schema").map((items): Schema => ({ type: "array", items })),
    fc
      .dictionary(fc.string(), tie("schema"), { maxKeys: 4 })
      .map((properties): Schema => ({ type: "object", properties })),
    tie("schema").map((inner): Schema => ({ anyOf: [inner, { type: "null" }] })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf): Schema => ({ anyOf })),
  ),
})).schema;
const ROOT: Schema = { $defs: { Text: { type: "string" } } };

/** Types every value of a form anew, as a person would who changes nothing. */
function typedAnew(schema: unknown, value: unknown): unknown {
  const field = fieldFor(schema, value, ROOT);
  if (value !== undefined) expect(fits(field, value)).toBe(true);
  switch (field.kind) {
    case "record": {
      let next = value;
      for (const { name, schema: inner } of field.fields) {
        const old = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
        if (old !== undefined) next = withField(next, name, typedAnew(inner, old));
      }
      return next;
    }
    case "list": {
      let next = value;
      if (Array.isArray(value)) {
        value.forEach((one, place) => {
          next = withItem(next, place, typedAnew(field.item, one));
        });
      }
      return next;
    }
    case "nullable":
      return value === null ? null : typedAnew(field.inner, value);
    case "union": {
      const option = field.options[optionOf(field.options, value, ROOT)];
      return option === undefined || value === null ? value : typedAnew(option, value);
    }
    case "flag":
    case "choice":
      return value;
    default: {
      const typed = typedValue(field, typedText(field, value));
      if (!typed.ok) throw new Error(typed.problem);
      return typed.value;
    }
  }
}

describe("a form of a schema", () => {
  test("keeps any value as it is, whether it fits the schema or not", () => {
    fc.assert(
      fc.property(schemas, fc.jsonValue(), (schema, given) => {
        const value: unknown = JSON.parse(JSON.stringify(given)); // without -0, which JSON does not have
        expect(JSON.stringify(typedAnew(schema, value))).toBe(JSON.stringify(value));
      }),
    );
  });

  test("changes one field and no other, and keeps their order", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
        fc.jsonValue(),
        fc.nat(),
        (record, value, at) => {
          const names = Object.keys(record);
          const name = names[at % names.length] ?? "";
          const changed = withField(record, name, value);
          expect(Object.keys(changed)).toEqual(names);
          for (const other of names)
            expect(sameJson(changed[other], other === name ? value : record[other])).toBe(true);
          expect(Object.keys(withField(record, name, undefined))).toEqual(names.filter((other) => other !== name));
        },
      ),
    );
  });

  test("starts with values that fit", () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const value = startValue(schema, ROOT);
        expect(fits(fieldFor(schema, value, ROOT), value)).toBe(true);
      }),
    );
  });

  test("has a field for each kind", () => {
    const kind = (schema: unknown, value?: unknown) => fieldFor(schema, value, ROOT).kind;
    expect(kind({ type: "string" })).toBe("text");
    expect(kind({ type: "string" }, 5)).toBe("json");
    expect(kind({ type: "string" }, "a\r\nb")).toBe("json");
    expect(kind({ type: "integer" }, 1.5)).toBe("json");
    expect(kind({ anyOf: [{ type: "integer" }, { type: "null" }] })).toBe("nullable");
    expect(kind({ anyOf: [{ type: "integer" }, { type: "string" }] })).toBe("union");
    expect(kind({ anyOf: [{ type: "integer" }, { type: "string" }] }, "a")).toBe("union");
    expect(kind({ $ref: "#/$defs/Text" })).toBe("text");
    expect(kind(null)).toBe("json");
  });

  test("finds the kind of a value among several", () => {
    const cat = {
      type: "object",
      properties: { kind: { const: "cat" }, name: { type: "string" } },
      required: ["kind"],
    };
    const dog = {
      type: "object",
      properties: { kind: { const: "dog" }, name: { type: "string" } },
      required: ["kind"],
    };
    const options: Schema[] = [{ type: "integer" }, { type: "string" }, cat, dog, { type: "null" }];
    const at = (value: unknown) => optionOf(options, value, ROOT);
    expect([3, "3", { kind: "cat" }, { kind: "dog", name: "Rex" }, null].map(at)).toEqual([0, 1, 2, 3, 4]);
    expect([1.5, {}, [], undefined].map(at)).toEqual([-1, -1, -1, -1]);
    expect(options.map((one) => optionName(one, ROOT))).toEqual(["whole number", "text", "fields", "fields", "null"]);
  });

  test("is filled with its defaults, also with those that nobody requires", () => {
    const properties = {
      tone: { type: "string", default: "warm" },
      words: { type: "integer" },
      place: { $ref: "#/$defs/Place" },
    };
    const root: Schema = { $defs: { Place: { type: "string", default: "here" } }, properties, required: ["words"] };
    expect(defaultsOf(root, root)).toEqual({ tone: "warm", words: 0, place: "here" });
  });

  test("reads what is typed", () => {
    const whole = { kind: "number", integer: true } as const;
    expect(typedValue(whole, "12")).toEqual({ ok: true, value: 12 });
    expect(typedValue(whole, "1.5")).toEqual({ ok: false, problem: "This is no whole number." });
    expect(typedValue(whole, "x")).toEqual({ ok: false, problem: "This is no number." });
    expect(typedValue(whole, " ")).toEqual({ ok: true, value: undefined });
    expect(typedValue({ kind: "json" }, "{")).toEqual({ ok: false, problem: "This is no valid JSON yet." });
    expect(typedValue({ kind: "text" }, "")).toEqual({ ok: true, value: "" });
  });

  test("follows references, also those that lead in a circle", () => {
    const circle: Schema = { $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } };
    expect(resolved({ $ref: "#/$defs/A" }, circle)).toBeDefined();
    const tree: Schema = {
      $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } }, required: ["next"] } },
    };
    expect(startValue({ $ref: "#/$defs/Node" }, tree)).toBeDefined();
  });
});
