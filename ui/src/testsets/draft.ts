/** Changes of a test set that are not saved yet. They name rows and columns as they are in the version they are made in. */
import { isObject } from "../json";
import type { Cell, Edit } from "./data";

/** A new value of a cell: a text, or JSON as text, so that numbers keep their digits. */
export interface NewValue {
  text: string;
  isText: boolean;
}

/** A row that the version does not have: a new one, a copy, or one that moves here. */
export interface Extra {
  id: number;
  kind: "insert" | "copy" | "move";
  /** The row that is copied or moved. */
  row: number | null;
  before: number;
  cells: Readonly<Record<string, NewValue>>;
}

export type ColumnEdit = Extract<Edit, { kind: "rename_column" | "add_column" | "delete_column" }>;

export interface Draft {
  /** By row and column; null takes the value out of the row. */
  cells: Readonly<Record<number, Readonly<Record<string, NewValue | null>>>>;
  deleted: readonly number[];
  extras: readonly Extra[];
  columns: readonly ColumnEdit[];
  nextId: number;
}

export const NOTHING: Draft = { cells: {}, deleted: [], extras: [], columns: [], nextId: 1 };

/** A row in the table: one of the version, or one that is new. */
export type Item = { kind: "row"; position: number } | { kind: "extra"; extra: Extra };

export function itemCount(draft: Draft, rowCount: number): number {
  return rowCount + draft.extras.length;
}

/** The row at a place of the table. New rows stand before the row that they are put before, in their order. */
export function itemAt(draft: Draft, index: number): Item {
  let passed = 0;
  for (const extra of sortedExtras(draft)) {
    const place = extra.before + passed;
    if (index === place) return { kind: "extra", extra };
    if (index < place) break;
    passed++;
  }
  return { kind: "row", position: index - passed };
}

/** The place in the table of a row of the version. */
export function indexOf(draft: Draft, position: number): number {
  return position + draft.extras.filter((extra) => extra.before <= position).length;
}

function sortedExtras(draft: Draft): readonly Extra[] {
  return draft.extras.length < 2 ? draft.extras : [...draft.extras].sort((a, b) => a.before - b.before || a.id - b.id);
}

export function withCell(draft: Draft, position: number, column: string, value: NewValue | null): Draft {
  return { ...draft, cells: { ...draft.cells, [position]: { ...draft.cells[position], [column]: value } } };
}

/** The draft without a change of a cell. */
export function withoutCell(draft: Draft, position: number, column: string): Draft {
  const { [column]: _, ...rest } = draft.cells[position] ?? {};
  const { [position]: __, ...others } = draft.cells;
  return { ...draft, cells: Object.keys(rest).length ? { ...others, [position]: rest } : others };
}

export function withExtra(draft: Draft, extra: Omit<Extra, "id" | "cells">): Draft {
  const added = { ...extra, id: draft.nextId, cells: {} };
  return { ...draft, extras: [...draft.extras, added], nextId: draft.nextId + 1 };
}

export function withExtraCell(draft: Draft, id: number, column: string, value: NewValue): Draft {
  const changed = (extra: Extra) => ({ ...extra, cells: { ...extra.cells, [column]: value } });
  return { ...draft, extras: draft.extras.map((extra) => (extra.id === id ? changed(extra) : extra)) };
}

/** A copy that was changed: a new row with all that the copied row has, and what was typed. */
export function withCopyCell(
  draft: Draft,
  id: number,
  source: Readonly<Record<string, Cell>>,
  column: string,
  value: NewValue,
): Draft {
  const cells = Object.fromEntries(
    Object.entries(source).map(([name, cell]) => [name, { text: cell.text, isText: cell.is_text }]),
  );
  const filled = (extra: Extra): Extra => ({ ...extra, kind: "insert", row: null, cells });
  const extras = draft.extras.map((extra) => (extra.id === id ? filled(extra) : extra));
  return withExtraCell({ ...draft, extras }, id, column, value);
}

export function withoutExtra(draft: Draft, id: number): Draft {
  return { ...draft, extras: draft.extras.filter((extra) => extra.id !== id) };
}

export function toggledDelete(draft: Draft, position: number): Draft {
  const deleted = draft.deleted.includes(position)
    ? draft.deleted.filter((one) => one !== position)
    : [...draft.deleted, position];
  return { ...draft, deleted };
}

export function moved(draft: Draft, position: number, before: number): Draft {
  const others = draft.extras.filter((extra) => extra.kind !== "move" || extra.row !== position);
  return withExtra({ ...draft, extras: others }, { kind: "move", row: position, before });
}

export function movedAway(draft: Draft, position: number): boolean {
  return draft.extras.some((extra) => extra.kind === "move" && extra.row === position);
}

export interface ShownColumn {
  /** Its name in the version; of a new column, the name that it gets. */
  key: string;
  name: string;
  isNew: boolean;
}

/** The columns as they will be. */
export function shownColumns(draft: Draft, columns: readonly string[]): ShownColumn[] {
  let shown = columns.map((name): ShownColumn => ({ key: name, name, isNew: false }));
  for (const edit of draft.columns) {
    if (edit.kind === "add_column") {
      if (!shown.some((column) => column.name === edit.name)) {
        shown = [...shown, { key: edit.name, name: edit.name, isNew: true }];
      }
    } else if (edit.kind === "delete_column") {
      shown = shown.filter((column) => column.name !== edit.column);
    } else {
      shown = shown.map((column) => (column.name === edit.column ? { ...column, name: edit.name } : column));
    }
  }
  return shown;
}

/** What is wrong with a name for a column; null if nothing is. */
export function nameProblem(draft: Draft, columns: readonly string[], name: string): string | null {
  if (!name) return "A column needs a name.";
  return shownColumns(draft, columns).some((column) => column.name === name)
    ? `There is a column '${name}' already.`
    : null;
}

export function withColumn(draft: Draft, edit: ColumnEdit): Draft {
  return { ...draft, columns: [...draft.columns, edit] };
}

export function changeCount(draft: Draft): number {
  const cells = Object.values(draft.cells).reduce((sum, row) => sum + Object.keys(row).length, 0);
  return cells + draft.deleted.length + draft.extras.length + draft.columns.length;
}

/** What the API is told. */
export function toEdits(draft: Draft): Edit[] {
  const edits: Edit[] = [];
  for (const [row, cells] of Object.entries(draft.cells)) {
    for (const [column, value] of Object.entries(cells)) edits.push(cellEdit(Number(row), column, value));
  }
  for (const row of draft.deleted) edits.push({ kind: "delete", row });
  for (const extra of sortedExtras(draft)) {
    const { before, row } = extra;
    if (extra.kind === "insert" || row === null)
      edits.push({ kind: "insert_json", before, cells: textsOf(extra.cells) });
    else edits.push({ kind: extra.kind, row, before });
  }
  return [...edits, ...draft.columns];
}

function cellEdit(row: number, column: string, value: NewValue | null): Edit {
  if (value === null) return { kind: "clear", row, column };
  return value.isText
    ? { kind: "set", row, column, value: value.text }
    : { kind: "set_json", row, column, text: value.text };
}

/** Values as JSON texts: a number that is read here would lose digits. */
function textsOf(cells: Readonly<Record<string, NewValue>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(cells).map(([column, value]) => [column, value.isText ? JSON.stringify(value.text) : value.text]),
  );
}

/** A draft that this browser kept, if it is one. */
export function draftOf(found: unknown): Draft {
  if (!isObject(found) || !Object.keys(NOTHING).every((key) => key in found)) return NOTHING;
  // Written by this page.
  return found as unknown as Draft;
}

/** A new value as a cell. */
export function cellOf(value: NewValue): Cell {
  return {
    kind: value.isText ? "text" : "json",
    text: value.text,
    is_text: value.isText,
    cut: false,
    size: value.text.length,
  };
}
