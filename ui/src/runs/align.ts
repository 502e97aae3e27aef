/** What was done beside what should have been done. */

export interface Done {
  kind: "said" | "call";
  step: number | null;
  turn: number;
}

interface Wanted {
  step: number | null;
}

export interface AlignedRow<Item, Truth> {
  item: Item | null;
  truths: Truth[];
  /** The turn that begins with this row. */
  turn: number | null;
}

/**
 * A row for each item, with the actions of the ground truth that it stands for. An action that no step stands for
 * comes where it was due: after the one before it.
 */
export function alignedRows<Item extends Done, Truth extends Wanted>(
  items: readonly Item[],
  truths: readonly Truth[],
): AlignedRow<Item, Truth>[] {
  let turn: number | null = null;
  const rows: AlignedRow<Item, Truth>[] = items.map((item) => {
    const begins = item.turn !== turn;
    turn = item.turn;
    return { item, truths: [], turn: begins ? item.turn : null };
  });
  // A step may be said and answered: the action stands beside its first item.
  const places = new Map<number, number>();
  for (const [place, item] of items.entries()) {
    if (item.step !== null && !places.has(item.step)) places.set(item.step, place);
  }
  const without: Truth[] = [];
  let due: number | null = null;
  for (const truth of truths) {
    const place = truth.step === null ? null : (places.get(truth.step) ?? null);
    if (place !== null) due = place;
    const row = due === null ? undefined : rows[due];
    if (row) row.truths.push(truth);
    else without.push(truth);
  }
  const first = rows[0];
  if (first) first.truths.unshift(...without);
  else if (without.length) rows.push({ item: null, truths: without, turn: null });
  return rows;
}
