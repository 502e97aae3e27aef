/** The turns of several threads beside each other, so that the same question stands in one row. */
import { roleOf } from "../messages";
import type { Turn } from "./api";

export interface AlignedRow {
  key: string;
  /** A turn for each thread; null where it has none. */
  cells: (Turn | null)[];
}

export interface ThreadTurns {
  turns: readonly Turn[];
  /** How many turns come before these. */
  before: number;
}

const GAP = 0.6;
const OTHER_WORDS = 1;
const OTHER_KIND = 2;

/** Rows of turns. A turn that only one thread has, such as a tool's result filled in by hand, has a row of its own. */
export function aligned(threads: readonly ThreadTurns[]): AlignedRow[] {
  const [only] = threads;
  if (threads.length === 1 && only) return only.turns.map((turn) => ({ key: turn.id, cells: [turn] }));
  // Without all turns nothing tells which question is meant: then the number of the turn decides.
  if (threads.some((thread) => thread.before > 0)) return byNumber(threads);
  let rows: AlignedRow[] = [];
  threads.forEach((thread, place) => {
    rows =
      place === 0 ? thread.turns.map((turn) => ({ key: turn.id, cells: [turn] })) : merged(rows, thread.turns, place);
  });
  return rows;
}

function byNumber(threads: readonly ThreadTurns[]): AlignedRow[] {
  const first = Math.min(...threads.map((thread) => thread.before));
  const last = Math.max(...threads.map((thread) => thread.before + thread.turns.length));
  return Array.from({ length: last - first }, (_, place) => {
    const cells = threads.map((thread) => thread.turns[first + place - thread.before] ?? null);
    return { key: cells.find((turn) => turn)?.id ?? String(place), cells };
  }).filter((row) => row.cells.some((turn) => turn));
}

/** One more thread beside rows: the cheapest way to put its turns into them. */
function merged(rows: readonly AlignedRow[], turns: readonly Turn[], columns: number): AlignedRow[] {
  const none: (Turn | null)[] = Array(columns).fill(null);
  const costs: number[][] = Array.from({ length: rows.length + 1 }, () => Array(turns.length + 1).fill(0));
  const cost = (row: number, turn: number) => costs[row]?.[turn] ?? Number.POSITIVE_INFINITY;
  const pair = (row: number, turn: number) => difference(rows[row], turns[turn]);
  for (let row = rows.length; row >= 0; row--) {
    for (let turn = turns.length; turn >= 0; turn--) {
      const ways = [];
      if (row < rows.length && turn < turns.length) ways.push(cost(row + 1, turn + 1) + pair(row, turn));
      if (row < rows.length) ways.push(cost(row + 1, turn) + GAP);
      if (turn < turns.length) ways.push(cost(row, turn + 1) + GAP);
      const line = costs[row];
      if (line && ways.length) line[turn] = Math.min(...ways);
    }
  }
  const result: AlignedRow[] = [];
  let row = 0;
  let turn = 0;
  while (row < rows.length || turn < turns.length) {
    const old = rows[row];
    const next = turns[turn];
    if (old && next && cost(row, turn) === cost(row + 1, turn + 1) + pair(row, turn)) {
      result.push({ key: old.key, cells: [...old.cells, next] });
      row++;
      turn++;
    } else if (old && (!next || cost(row, turn) === cost(row + 1, turn) + GAP)) {
      result.push({ key: old.key, cells: [...old.cells, null] });
      row++;
    } else if (next) {
      result.push({ key: next.id, cells: [...none, next] });
      turn++;
    }
  }
  return result;
}

function difference(row: AlignedRow | undefined, turn: Turn | undefined): number {
  const others = row?.cells.filter((cell) => cell !== null) ?? [];
  if (!turn || !others.length) return OTHER_KIND;
  const costs = others.map((other) => {
    if (other.id === turn.id || saidKey(other) === saidKey(turn)) return 0;
    return kindOf(other) === kindOf(turn) ? OTHER_WORDS : OTHER_KIND;
  });
  return Math.min(...costs);
}

function saidKey(turn: Turn): string {
  return JSON.stringify(turn.said.map((message) => [roleOf(message), message.content ?? null]));
}

function kindOf(turn: Turn): string {
  return turn.said.some((message) => roleOf(message) === "tool") ? "tool" : "user";
}
