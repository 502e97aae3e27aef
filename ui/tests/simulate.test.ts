import { expect, test } from "vitest";
import { emptyBrief, requestOf } from "../src/talk/simulate/brief";

test("a brief for a goal is sent without what is left empty", () => {
  const brief = { ...emptyBrief(false), goal: "Get tea.", persona: "Ann", model: " m ", turns: "4" };
  expect(requestOf(brief, "end")).toEqual({
    steps: "end",
    user_strategy: "llm",
    model: "m",
    goal: "Get tea.",
    persona: "Ann",
    max_turns: 4,
  });
});

test("a thread with a task of its own needs no goal", () => {
  expect(requestOf(emptyBrief(true), 1)).toEqual({ steps: 1, max_turns: 10 });
});

test("a task of a domain is a number", () => {
  const brief = { ...emptyBrief(false), wants: "task" as const, env: "retail", task: "7", turns: "" };
  expect(requestOf(brief, 1)).toEqual({ steps: 1, user_strategy: "llm", env: "retail", task: 7 });
});

test("numbers that are none are refused, not replaced", () => {
  const brief = { ...emptyBrief(false), wants: "task" as const };
  for (const task of ["", "1.5", "x"]) expect(() => requestOf({ ...brief, task }, 1)).toThrow("by its number");
  expect(() => requestOf({ ...brief, turns: "2.5" }, 1)).toThrow("whole number");
});
