import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { valueIn } from "../src/testsets/cells";
import {
  changeCount,
  type Draft,
  draftOf,
  indexOf,
  itemAt,
  itemCount,
  moved,
  NOTHING,
  nameProblem,
  shownColumns,
  toEdits,
  toggledDelete,
  withCell,
  withColumn,
  withCopyCell,
  withExtra,
  withExtraCell,
  withoutCell,
  withoutExtra,
} from "../src/testsets/draft";

const ROWS = 6;
type Change = (draft: Draft) => Draft;
const row = fc.nat(ROWS - 1);
const before = fc.nat(ROWS);
const value = fc.record({ text: fc.string(), isText: fc.constant(true) });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(row, fc.constantFrom("a", "b"), value).map(
    ([at, column, next]): Change =>
      (draft) =>
        withCell(draft, at, column, next),
  ),
  row.map(
    (at): Change =>
      (draft) =>
        toggledDelete(draft, at),
  ),
  before.map(
    (at): Change =>
      (draft) =>
        withExtra(draft, { kind: "insert", row: null, before: at }),
  ),
  fc.tuple(row, before).map(
    ([at, to]): Change =>
      (draft) =>
        moved(draft, at, to),
  ),
);
const drafts = fc
  .array(change, { maxLength: 12 })
  .map((changes) => changes.reduce((draft, one) => one(draft), NOTHING));

describe("a draft", () => {
  it("shows every row of the version once, in its order, and every new row before its place", () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        const items = Array.from({ length: itemCount(draft, ROWS) }, (_, index) => itemAt(draft, index));
        const positions = items.flatMap((item) => (item.kind === "row" ? [item.position] : []));
        expect(positions).toEqual([0, 1, 2, 3, 4, 5]);
        items.forEach((item, index) => {
          if (item.kind === "row") expect(indexOf(draft, item.position)).toBe(index);
          else {
            const passed = items.slice(0, index).filter((one) => one.kind === "row").length;
            expect(passed).toBe(item.extra.before);
          }
        });
        expect(items.filter((item) => item.kind === "extra")).toHaveLength(draft.extras.length);
      }),
    );
  });

  it("is kept as text and read again", () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        expect(draftOf(JSON.parse(JSON.stringify(draft)))).toEqual(draft);
      }),
    );
    for (const odd of [null, 5, "x", [], {}, { cells: {} }]) expect(draftOf(odd)).toBe(NOTHING);
  });

  it("makes one edit of each change", () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        expect(toEdits(draft)).toHaveLength(changeCount(draft));
      }),
    );
  });

  it("takes changes back", () => {
    const changed = withCell(NOTHING, 2, "a", { text: "x", isText: true });
    expect(changeCount(withoutCell(changed, 2, "a"))).toBe(0);
    expect(changeCount(toggledDelete(toggledDelete(NOTHING, 1), 1))).toBe(0);
    const extra = withExtra(NOTHING, { kind: "insert", row: null, before: 0 });
    expect(changeCount(withoutExtra(extra, 1))).toBe(0);
  });

  it("tells numbers as text, so that they keep their digits", () => {
    const draft = withCell(NOTHING, 0, "n", { text: "12345678901234567890123", isText: false });
    expect(toEdits(draft)).toEqual([{ kind: "set_json", row: 0, column: "n", text: "12345678901234567890123" }]);
    const filled = withExtraCell(withExtra(NOTHING, { kind: "insert", row: null, before: 3 }), 1, "a", {
      text: "[1]",
      isText: false,
    });
    expect(toEdits(filled)).toEqual([{ kind: "insert_json", before: 3, cells: { a: "[1]" } }]);
  });

  it("makes a changed copy a row of its own, with all that the copied row has", () => {
    const copied = withExtra(NOTHING, { kind: "copy", row: 2, before: 3 });
    const cell = (text: string, is_text: boolean) => ({ kind: "text" as const, text, is_text, cut: false, size: 1 });
    const changed = withCopyCell(copied, 1, { a: cell("x", true), n: cell("1.50", false) }, "a", {
      text: "y",
      isText: true,
    });
    expect(toEdits(changed)).toEqual([{ kind: "insert_json", before: 3, cells: { a: '"y"', n: "1.50" } }]);
  });

  it("has nothing in a column that is named as something that every object has", () => {
    expect(valueIn({}, "constructor")).toBeUndefined();
    expect(valueIn({ constructor: 5 }, "constructor")).toBe(5);
  });

  it("shows columns as they will be", () => {
    let draft = withColumn(NOTHING, { kind: "rename_column", column: "a", name: "first" });
    draft = withColumn(draft, { kind: "add_column", name: "tag", value: "" });
    draft = withColumn(draft, { kind: "delete_column", column: "b" });
    expect(shownColumns(draft, ["a", "b"]).map((one) => [one.key, one.name, one.isNew])).toEqual([
      ["a", "first", false],
      ["tag", "tag", true],
    ]);
    expect(nameProblem(draft, ["a", "b"], "tag")).toContain("already");
    expect(nameProblem(draft, ["a", "b"], "b")).toBeNull();
    expect(nameProblem(draft, ["a", "b"], "")).toContain("needs a name");
  });
});
