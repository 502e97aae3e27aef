import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoted } from "../src/snippets";
import { messagesUntil } from "../src/talk/actions";
import { turnsUntil } from "../src/talk/api";
import { callOf, copyForms, curlLine, textOfTurn } from "../src/talk/copies";
import { figuresOf } from "../src/talk/figures";
import { rowsOf } from "../src/talk/rows";
import { saidIn } from "../src/talk/said";
import { parametersSchema } from "../src/talk/ThreadSettings";
import { said, turn } from "./turns";

const turns = [said("1", "A"), said("2", "B"), said("3", "C")];

describe("what is typed", () => {
  test("text is one message of the user, as it is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = saidIn(text, false);
        expect(found.ok).toBe(text.trim() !== "");
        if (found.ok) expect(found.messages).toEqual([{ role: "user", content: text }]);
      }),
    );
  });
  test("JSON is a message or several, as they are", () => {
    expect(saidIn('{"role": "tool", "x": 1}', true)).toEqual({ ok: true, messages: [{ role: "tool", x: 1 }] });
    expect(saidIn('[{"role": "user"}, {"role": "user"}]', true)).toMatchObject({ ok: true });
    for (const bad of ["[]", "5", '["a"]', "{"]) expect(saidIn(bad, true).ok).toBe(false);
  });
});

describe("turns of a thread", () => {
  test("asking again keeps what came before", () => {
    expect(turnsUntil(turns, undefined)).toEqual(turns);
    expect(turnsUntil(turns, "").length).toBe(0);
    expect(turnsUntil(turns, "2").map((one) => one.id)).toEqual(["1", "2"]);
    expect(turnsUntil(turns, "unknown")).toEqual(turns);
  });
  test("the messages of a turn are those before it, and what was said in it", () => {
    const [, second] = turns;
    if (!second) throw new Error("no turn");
    expect(messagesUntil(turns, second).map((one) => one.content)).toEqual(["A", "to A", "B"]);
  });
  test("threads stand by row and column", () => {
    const head = (row: number, column: number) => ({ row, column }) as never;
    expect(rowsOf([head(1, 0), head(0, 1), head(0, 0)])).toEqual([[head(0, 0), head(0, 1)], [head(1, 0)]]);
  });
});

describe("copies of a turn", () => {
  const one = turn({
    id: "1",
    said: [{ role: "user", content: "It's" }],
    replies: [{ role: "assistant", content: "yes" }],
    inputs: { place: "here" },
    parameters: { tone: "kind" },
    address: "http://localhost:8000/#gpt",
  });
  test("forms fit how the workflow is called", () => {
    expect(copyForms(one, [one], "invoke").map((form) => form.name)).toEqual(["Text", "JSON", "curl", "Python"]);
    expect(copyForms(one, [one], "local").map((form) => form.name)).toEqual(["Text", "JSON", "Python"]);
    expect(copyForms(one, [one], null).map((form) => form.name)).toEqual(["Text", "JSON"]);
    expect(textOfTurn(one)).toBe("It's\n\nyes");
  });
  test("a line for the shell names the messages, inputs and parameters", () => {
    const call = callOf(one, [one]);
    expect(call.inputs).toEqual({ place: "here", messages: one.said });
    expect(curlLine("http://h/v1#gpt", "openai", call)).toContain("http://h/v1/chat/completions");
    expect(curlLine("http://h/v1#gpt", "openai", call)).toContain('"model":"gpt"');
    expect(curlLine("http://h/", "invoke", call)).toContain("'http://h/invoke'");
  });
  test("any text is one word of the shell", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("\0")),
        (text) => {
          expect(execFileSync("sh", ["-c", `printf %s ${quoted(text)}`]).toString()).toBe(text);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("words", () => {
  test("figures of a turn", () => {
    const one = turn({ id: "1", seconds: 1.25, prompt_tokens: 1200, completion_tokens: 3, cost: 0.0005 });
    expect(figuresOf(one)).toEqual(["1.3 s", "1,200 + 3 tokens", "$0.00050"]);
    expect(figuresOf(turn({ id: "2" }))).toEqual([]);
    expect(figuresOf(turn({ id: "3", seconds: 1 }))).toEqual(["1.0 s"]);
    expect(figuresOf(turn({ id: "3", seconds: 1 }), [one])).toEqual(["1.0 s", "cost –"]);
    expect(figuresOf(turn({ id: "5", prompt_tokens: 1 }))).toEqual(["1 + 0 tokens", "cost –"]);
    expect(figuresOf(turn({ id: "4", seconds: 1, cost: 0 }))).toEqual(["1.0 s", "$0"]);
  });
  test("parameters show the workflow's own values as defaults", () => {
    const schema = {
      type: "object",
      properties: { tone: { type: "string" }, n: { type: "integer", default: 1 } },
      required: ["tone"],
    };
    expect(parametersSchema(schema, { tone: "kind", n: 5 })).toEqual({
      type: "object",
      properties: { tone: { type: "string", default: "kind" }, n: { type: "integer", default: 1 } },
      required: [],
    });
    expect(parametersSchema(null, { tone: "kind" })).toEqual({
      type: "object",
      properties: { tone: { type: "string", default: "kind" } },
    });
  });
});
