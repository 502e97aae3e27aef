import type { ThreadHead } from "./api";

/** Threads by their rows, each in the order of its columns. */
export function rowsOf(threads: readonly ThreadHead[]): ThreadHead[][] {
  const rows = new Map<number, ThreadHead[]>();
  for (const thread of threads) rows.set(thread.row, [...(rows.get(thread.row) ?? []), thread]);
  const sorted = [...rows.entries()].sort(([one], [other]) => one - other);
  return sorted.map(([, row]) => row.sort((one, other) => one.column - other.column));
}
