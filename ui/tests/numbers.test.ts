import { describe, expect, it } from "vitest";
import { costWords, fixed, secondsWords } from "../src/numbers";

describe("numbers", () => {
  it.each([
    [81.25, 1, "81.2"],
    [81.75, 1, "81.8"],
    [81.26, 1, "81.3"],
    [0.5, 0, "0"],
    [1.5, 0, "2"],
    [2.675, 2, "2.67"],
    [-81.25, 1, "-81.2"],
    [100, 1, "100.0"],
  ])("%d with %d digits is %s, as in a report", (value, digits, text) => {
    expect(fixed(value, digits)).toBe(text);
  });

  it.each([
    [0, "–"],
    [0.0123, "12 ms"],
    [2, "2.0 s"],
    [0.9996, "1.0 s"],
    [59.96, "1 min 0 s"],
    [119.6, "2 min 0 s"],
    [125, "2 min 5 s"],
  ])("%d seconds are %s", (seconds, words) => {
    expect(secondsWords(seconds)).toBe(words);
  });

  it("tells an amount of money, and that nobody knows it", () => {
    expect([null, 0, 0.001, 0.25, 3].map(costWords)).toEqual(["–", "$0", "$0.0010", "$0.250", "$3.00"]);
  });
});
