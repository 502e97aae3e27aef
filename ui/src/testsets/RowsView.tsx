import { useIsMutating, useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { CellEditor, meantBy, type Typed } from "./CellEditor";
import { ColumnHead } from "./ColumnHead";
import { valueIn } from "./cells";
import { type Cell, counted, type Filter, isFiltered, rowQuery, type Saved, type TestSet } from "./data";
import {
  cellOf,
  type Draft,
  type Item,
  indexOf,
  movedAway,
  type NewValue,
  shownColumns,
  withCell,
  withCopyCell,
  withExtraCell,
  withoutCell,
} from "./draft";
import { FilterBar } from "./FilterBar";
import { RowDialog } from "./RowDialog";
import { RowMenu } from "./RowMenu";
import { type Place, RowsTable, type ShownRow } from "./RowsTable";
import { SaveBar, savingKey, type Undo } from "./SaveBar";
import { useRows } from "./useRows";

interface RowsViewProps {
  set: TestSet;
  latest: TestSet;
  draft: Draft;
  /** An older version is looked at, not changed. */
  readOnly: boolean;
  onDraft: (draft: Draft) => void;
  undo: Undo | undefined;
  onSaved: (saved: Saved) => void;
}

interface Editing {
  /** Its place in the table changes when rows are found, added or moved. */
  item: Item;
  column: string;
  cell: Cell | undefined;
  /** The whole row, if it had to be fetched: a copy that is changed becomes a row of its own. */
  copied?: Readonly<Record<string, Cell>>;
}

/** The row of the version that stands behind a row of the table; null for a new one. */
const sourceOf = (item: Item) => (item.kind === "row" ? item.position : item.extra.row);

const route = getRouteApi("/test-sets/$name");
const NONE: ReadonlySet<string> = new Set();

/** The rows of a version as a table that is edited in place. */
export function RowsView({ set, latest, draft, readOnly, onDraft, undo, onSaved }: RowsViewProps) {
  // What is changed while the rest is being saved would be lost.
  const fixed = useIsMutating({ mutationKey: savingKey(set) }) > 0 || readOnly;
  const { q, column, kind, row } = route.useSearch();
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const filter: Filter = { ...(q ? { q } : {}), ...(column ? { column } : {}), ...(kind ? { kind } : {}) };
  const rows = useRows(set, filter, draft);
  const columns = shownColumns(
    draft,
    set.columns.map((one) => one.name),
  );
  const [at, setAt] = useState<Place | null>(() => {
    const first = columns[0];
    if (row === undefined || !first || isFiltered(filter)) return null;
    return { index: indexOf(draft, Math.min(set.row_count, Math.max(1, row)) - 1), column: first.key };
  });
  const [editing, setEditing] = useState<Editing | null>(null);
  const typed = useRef<Typed | null>(null);
  const [opened, setOpened] = useState<number | null>(null);
  // A cell is edited whole: it is fetched if the table has not got it yet, or has cut it.
  const fetchWhole = useMutation({
    mutationFn: async ({ item, column, position }: { item: Item; column: string; position: number }) => {
      const row = await queries.fetchQuery(rowQuery(set.name, set.version, position));
      return { item, column, cell: valueIn(row.cells, column), copied: row.cells };
    },
    onSuccess: (found) => begin(found),
  });
  const begin = (next: Editing | null) => {
    typed.current = null;
    setEditing(next);
  };
  const edit = ({ index, column }: Place) => {
    // What was typed into another cell is kept; what makes no sense yet stays open.
    if (!settle()) return;
    const item = rows.itemAt(index);
    const position = sourceOf(item);
    const known = wholeCell(item, column);
    if (known) begin({ item, column, cell: known.cell });
    else if (position !== null) fetchWhole.mutate({ item, column, position });
  };
  const wholeCell = (item: Item, key: string): { cell: Cell | undefined } | null => {
    if (item.kind === "extra" && item.extra.kind !== "move") {
      const value = valueIn(item.extra.cells, key);
      // A copy is filled with the whole row once it is changed.
      return item.extra.kind === "copy" ? null : { cell: value && cellOf(value) };
    }
    const position = sourceOf(item);
    if (position === null) return { cell: undefined };
    const changed = valueIn(draft.cells[position], key);
    if (changed !== undefined) return { cell: changed === null ? undefined : cellOf(changed) };
    const cells = rows.cellsOf(position);
    const cell = valueIn(cells ?? undefined, key);
    return cells && !cell?.cut ? { cell } : null;
  };
  const leave = () => begin(null);
  /** The draft with what is typed into the open cell, which is closed; null if that makes no sense yet. */
  const settle = (): Draft | null => {
    if (!editing) return draft;
    const value = typed.current && meantBy(typed.current, editing.cell);
    if (typed.current && !value) return null;
    const next = value ? withValue(draft, editing, value) : draft;
    if (next !== draft) onDraft(next);
    leave();
    return next;
  };
  const move = (place: Place) => {
    setAt(place);
    const item = rows.itemAt(place.index);
    if (item.kind === "row") navigate({ search: (old) => ({ ...old, row: item.position + 1 }), replace: true });
  };
  const rowAt = (index: number): ShownRow => shownRow(rows.itemAt(index), draft, rows.cellsOf);
  const empty = !rows.count && !rows.searching;
  return (
    <div className="rows-view">
      <FilterBar
        columns={set.columns.map((one) => one.name)}
        filter={filter}
        found={isFiltered(filter) ? rows.count : null}
        more={rows.more}
        searching={rows.searching}
        total={set.row_count}
      />
      {rows.error && <ErrorNote error={rows.error} onRetry={rows.retry} />}
      {fetchWhole.error && <ErrorNote error={fetchWhole.error} />}
      {!readOnly && (
        <SaveBar
          set={set}
          latest={latest}
          draft={draft}
          columns={columns}
          onDraft={onDraft}
          undo={undo}
          onSaved={onSaved}
          settle={settle}
        />
      )}
      {empty ? (
        <EmptyState title="No row is like that.">
          <button type="button" onClick={() => navigate({ search: {} })}>
            Show all rows
          </button>
        </EmptyState>
      ) : (
        <RowsTable
          label={`Rows of ${set.name}, ${counted(rows.count, "row")}`}
          columns={columns}
          head={(one) => <ColumnHead set={set} column={one} draft={draft} onDraft={fixed ? null : onDraft} />}
          count={rows.count}
          rowAt={rowAt}
          isLoaded={rows.isLoaded}
          onRange={rows.onRange}
          at={at}
          onMove={move}
          editing={editing && { key: keyOf(editing.item), column: editing.column }}
          editor={(index) =>
            editing && (
              <CellEditor
                key={`${keyOf(editing.item)} ${editing.column}`}
                cell={editing.cell}
                label={`row ${(editing.item.kind === "row" ? editing.item.position : index) + 1}, ${editing.column}`}
                typed={typed.current}
                onType={(now) => {
                  typed.current = now;
                }}
                onKeep={settle}
                onLeave={leave}
              />
            )
          }
          onEdit={(place) => {
            setAt(place);
            if (!fixed) edit(place);
          }}
          menu={(index) =>
            fixed ? null : (
              <RowMenu
                item={rows.itemAt(index)}
                set={set}
                draft={draft}
                onDraft={onDraft}
                filtered={isFiltered(filter)}
              />
            )
          }
          onOpen={(index) => {
            const item = rows.itemAt(index);
            if (item.kind === "row") setOpened(item.position);
          }}
        />
      )}
      <RowDialog
        set={set}
        position={opened}
        onClose={() => setOpened(null)}
        changed={Object.keys(draft.cells[opened ?? -1] ?? {})}
        onRevert={(key) => opened !== null && onDraft(withoutCell(draft, opened, key))}
      />
    </div>
  );
}

/** The draft with another value in a cell. */
function withValue(draft: Draft, { item, column, cell, copied }: Editing, value: NewValue): Draft {
  const same = cell && cell.text === value.text && cell.is_text === value.isText;
  const position = sourceOf(item);
  if (item.kind === "row" || item.extra.kind === "move")
    return same || position === null ? draft : withCell(draft, position, column, value);
  // It may have been taken back, or filled, since its cell was opened.
  const { id } = item.extra;
  const kind = draft.extras.find((one) => one.id === id)?.kind;
  if (kind === "insert") return withExtraCell(draft, id, column, value);
  return kind === "copy" && copied && !same ? withCopyCell(draft, id, copied, column, value) : draft;
}

const keyOf = (item: Item) => (item.kind === "extra" ? `new ${item.extra.id}` : `row ${item.position}`);

function shownRow(item: Item, draft: Draft, cellsOf: (position: number) => ShownRow["cells"]): ShownRow {
  if (item.kind === "extra") {
    const { extra } = item;
    const typed = Object.entries(extra.cells).map(([key, value]): [string, Cell] => [key, cellOf(value)]);
    const source = extra.row === null ? {} : cellsOf(extra.row);
    const moves = extra.kind === "move" ? overlaid(source, draft, extra.row) : source;
    return {
      key: keyOf(item),
      number: WORDS[extra.kind],
      cells: moves && { ...moves, ...Object.fromEntries(typed) },
      changed: NONE,
      gone: false,
      isNew: true,
    };
  }
  const { position } = item;
  return {
    key: keyOf(item),
    number: position + 1,
    cells: overlaid(cellsOf(position), draft, position),
    changed: draft.cells[position] ? new Set(Object.keys(draft.cells[position])) : NONE,
    gone: draft.deleted.includes(position) || movedAway(draft, position),
    isNew: false,
  };
}

const WORDS = { insert: "new", copy: "copy", move: "moved" } as const;

/** Cells with what was changed in them. */
function overlaid(cells: ShownRow["cells"], draft: Draft, position: number | null): ShownRow["cells"] {
  const changed = position === null ? undefined : draft.cells[position];
  if (!cells || !changed) return cells;
  const shown: Record<string, Cell> = { ...cells };
  for (const [key, value] of Object.entries(changed)) {
    if (value === null) delete shown[key];
    else shown[key] = cellOf(value);
  }
  return shown;
}
