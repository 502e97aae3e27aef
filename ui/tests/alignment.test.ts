import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aligned } from "../src/talk/alignment";
import type { Turn } from "../src/talk/api";
import { said } from "./turns";

const thread = (turns: Turn[], before = 0) => ({ turns, before });
const texts = (rows: ReturnType<typeof aligned>) =>
  rows.map((row) => row.cells.map((cell) => String(cell?.said[0]?.content ?? "")));

describe("turns of several threads", () => {
  test("the same question stands in one row", () => {
    const one = [said("a1", "A"), said("a2", "B")];
    const other = [said("b1", "A"), said("b2", "B")];
    expect(texts(aligned([thread(one), thread(other)]))).toEqual([
      ["A", "A"],
      ["B", "B"],
    ]);
  });

  test("a tool's result that one thread has gets a row of its own", () => {
    const one = [said("a1", "A"), said("a2", "found", "tool"), said("a3", "B")];
    const other = [said("b1", "A"), said("b2", "B")];
    const rows = [
      ["A", "A"],
      ["found", ""],
      ["B", "B"],
    ];
    expect(texts(aligned([thread(one), thread(other)]))).toEqual(rows);
    expect(texts(aligned([thread(other), thread(one)]))).toEqual(rows.map(([left, right]) => [right, left]));
  });

  test("other words at the same place stand beside each other", () => {
    const one = [said("a1", "A"), said("a2", "B")];
    const other = [said("b1", "A"), said("b2", "C")];
    expect(texts(aligned([thread(one), thread(other)]))).toEqual([
      ["A", "A"],
      ["B", "C"],
    ]);
  });

  test("a branch ends earlier", () => {
    const all = [said("1", "A"), said("2", "B"), said("3", "C")];
    expect(texts(aligned([thread(all), thread(all.slice(0, 1))]))).toEqual([
      ["A", "A"],
      ["B", ""],
      ["C", ""],
    ]);
  });

  test("where turns are not loaded, their number decides", () => {
    const one = [said("a9", "I"), said("a10", "J")];
    const other = [said("b1", "A")];
    expect(texts(aligned([thread(one, 8), thread(other)]))).toEqual([
      ["", "A"],
      ["I", ""],
      ["J", ""],
    ]);
  });

  test("every turn is shown once, in its order and column", () => {
    const words = fc.array(fc.tuple(fc.constantFrom("A", "B", "C"), fc.constantFrom("user", "tool")), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), fc.boolean(), (columns, cut) => {
        const threads = columns.map((column, place) =>
          thread(
            column.map(([text, role], index) => said(`${place}-${index}`, text, role)),
            cut ? place : 0,
          ),
        );
        const rows = aligned(threads);
        threads.forEach(({ turns }, place) => {
          const found = rows.map((row) => row.cells[place]).filter((cell) => cell !== null && cell !== undefined);
          expect(found).toEqual(turns);
        });
        for (const row of rows) expect(row.cells).toHaveLength(threads.length);
        expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
      }),
    );
  });
});
