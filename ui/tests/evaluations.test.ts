import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blamed,
  type Draft,
  draftLike,
  draftOf,
  EMPTY,
  missing,
  requestOf,
  withEvaluator,
} from "../src/evaluations/draft";
import { changeWords, lineOf, workflowWords } from "../src/evaluations/parts";
import type { Evaluation } from "../src/evaluations/queries";

const FULL: Draft = {
  workflow: "/home/me/app.py:guide",
  testSet: "cities@2",
  name: " mine ",
  evaluators: [{ id: 0, name: "exact_match", alias: "", settings: { ignore_case: true } }],
  options: { rows: 5 },
};

describe("the form of a new evaluation", () => {
  it("comes back from the browser's storage as it was", () => {
    const texts = fc.string();
    const settings = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()));
    const evaluators = fc
      .array(fc.record({ name: texts, alias: texts, settings }))
      .map((all) => all.map((one, id) => ({ id, ...one })));
    const drafts = fc.record({ workflow: texts, testSet: texts, name: texts, evaluators, options: settings });
    fc.assert(
      fc.property(drafts, (draft) => {
        expect(draftOf(JSON.stringify(draft))).toEqual(draft);
      }),
    );
  });

  it("is empty where nothing, or nothing that is understood, was kept", () => {
    for (const text of [null, "", "{", "[]", "5", '"x"']) expect(draftOf(text)).toEqual(EMPTY);
    expect(draftOf('{"evaluators": [5, {"name": 1}], "options": []}').evaluators).toEqual([
      { id: 0, name: "", alias: "", settings: {} },
    ]);
  });

  it("leaves out what is not filled in", () => {
    expect(requestOf(FULL)).toEqual({
      workflow: "/home/me/app.py:guide",
      test_set: "cities@2",
      name: "mine",
      evaluators: [{ name: "exact_match", settings: { ignore_case: true } }],
      options: { rows: 5 },
    });
    expect(requestOf({ ...FULL, name: " " })).not.toHaveProperty("name");
  });

  it("says what is missing", () => {
    expect(missing(EMPTY)).toBe("Choose a workflow.");
    expect(missing({ ...FULL, testSet: "" })).toBe("Choose a test set.");
    expect(missing(FULL)).toBeNull();
  });

  it("gives two evaluators of a kind two names", () => {
    const twice = withEvaluator(withEvaluator(EMPTY, "regex"), "regex");
    expect(twice.evaluators.map((one) => [one.id, one.alias])).toEqual([
      [0, ""],
      [1, "regex-2"],
    ]);
  });

  it("shows an error at the evaluator that it is about", () => {
    const draft = withEvaluator(withEvaluator(EMPTY, "exact_match"), "regex");
    expect(blamed(draft, "The regex evaluator, setting pattern: it is wrong.")).toBe(1);
    expect(blamed(draft, "Unknown setting of the exact_match evaluator 'x'.")).toBe(0);
    expect(blamed(draft, "regex: prompt_file can only be given at the command line.")).toBe(1);
    expect(blamed(draft, "Rows should be greater than or equal to 1, not 0.")).toBe(-1);
  });

  it("can be filled in as an evaluation that there is", () => {
    const evaluation = {
      workflow: "app.py:guide",
      test_set: "cities",
      version: 2,
      used: [
        { name: "similarity", alias: "near", settings: { threshold: 0.5 } },
        { name: "exact_match", alias: "exact_match", settings: {}, rows: 3 },
      ],
      config: { workflow: "/home/me/app.py:guide", rows: 5, model: null, gates: [], strict: false, prices: "x" },
    } as unknown as Evaluation;
    expect(draftLike(evaluation, ["rows", "model", "gates", "strict"])).toEqual({
      workflow: "/home/me/app.py:guide",
      testSet: "cities@2",
      name: "",
      evaluators: [{ id: 0, name: "similarity", alias: "near", settings: { threshold: 0.5 } }],
      options: { rows: 5 },
    });
  });
});

describe("what changed in a compared row", () => {
  const scored = (alias: string, before: number | null, now: number | null) => ({ alias, before, now });
  it("names verdicts that changed, and scores that changed without one", () => {
    const evaluators = [{ alias: "same", change: "broke" as const, before: "100 %", now: "0 %" }];
    const scores = [scored("same", 1, 0), scored("near", 0.82, 0.91), scored("judge", null, 1)];
    expect(changeWords({ evaluators, scores })).toBe(
      "same: 100 % → 0 %; near: score 0.82 → 0.91; judge: score none → 1.00",
    );
    expect(changeWords({ evaluators: [], scores: [] })).toBe("");
  });
  it("shows as many digits as tell two scores apart", () => {
    expect(changeWords({ evaluators: [], scores: [scored("near", 0.8211, 0.8214)] })).toBe(
      "near: score 0.8211 → 0.8214",
    );
  });
});

describe("words of a result", () => {
  it("shows outputs of any shape in a line", () => {
    expect(lineOf({ role: "assistant", content: "Paris" })).toBe("Paris");
    expect(
      lineOf([
        { role: "user", content: "a" },
        { role: "assistant", content: "b\n c" },
      ]),
    ).toBe("b c");
    expect(lineOf({ answer: 5 })).toBe("5");
    expect(lineOf({ a: 1, b: 2 })).toBe('{"a":1,"b":2}');
    expect(lineOf(null)).toBe("");
    expect(lineOf("x".repeat(1000)).length).toBeLessThan(310);
  });

  it("tells workflows shortly", () => {
    expect(workflowWords("/home/me/app.py:guide")).toBe("app.py:guide");
    expect(workflowWords("http://localhost:8000/bot")).toBe("http://localhost:8000/bot");
  });
});
