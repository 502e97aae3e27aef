import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alignedRows, type Done } from "../src/runs/align";
import { addressOf } from "../src/runs/queries";

const said = (step: number | null, turn: number): Done => ({ kind: "said", step, turn });
const call = (step: number, turn: number): Done => ({ kind: "call", step, turn });

describe("the ground truth beside an episode", () => {
  it("puts an action beside its step, and what was never done where it was due", () => {
    const items = [said(null, 1), call(0, 1), call(1, 1), said(2, 1), said(2, 2)];
    const truth = [{ step: null }, { step: 0 }, { step: null }, { step: 2 }];
    const rows = alignedRows(items, truth);
    expect(rows.map((row) => row.truths.map((one) => truth.indexOf(one)))).toEqual([[0], [1, 2], [], [3], []]);
    expect(rows.map((row) => row.turn)).toEqual([1, null, null, null, 2]);
  });

  it("shows the ground truth of an episode in which nothing was said or done", () => {
    const rows = alignedRows([], [{ step: null }]);
    expect(rows).toEqual([{ item: null, truths: [{ step: null }], turn: null }]);
  });

  it("shows every item and every action once", () => {
    const steps = fc.array(fc.record({ said: fc.boolean(), turn: fc.nat(4) }), { maxLength: 20 });
    const wanted = fc.array(fc.option(fc.nat(30), { nil: null }), { maxLength: 12 });
    fc.assert(
      fc.property(steps, wanted, (done, places) => {
        const items = done.flatMap((one, step) =>
          one.said ? [said(step, one.turn), said(step, one.turn)] : [call(step, one.turn)],
        );
        const truth = places.map((step) => ({ step }));
        const rows = alignedRows(items, truth);
        expect(rows.flatMap((row) => row.item ?? [])).toEqual(items);
        const shown = rows.flatMap((row) => row.truths);
        expect(new Set(shown)).toEqual(new Set(truth));
        expect(shown).toHaveLength(truth.length);
      }),
    );
  });
});

describe("the address of a run", () => {
  it("is its name, unless a name would lead elsewhere", () => {
    const id = "01ab";
    expect(addressOf({ name: "nightly-2026.11", id })).toBe("nightly-2026.11");
    for (const name of ["compare", "..", "a/b", "a b", "<b>", ""]) expect(addressOf({ name, id })).toBe(id);
  });
});
