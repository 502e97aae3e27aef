import { expect, test } from "vitest";
import { subjectWords } from "../src/notes/subjects";

test("rows and repeats count from 1 for people, as they do in the table of results", () => {
  expect(subjectWords({ evaluation: "desk", item: 0, trial: 0 })).toBe("desk, row 1");
  expect(subjectWords({ evaluation: "desk", item: 4, trial: 1 })).toBe("desk, row 5, repeat 2");
});
