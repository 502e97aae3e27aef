import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { useFocusWhenShown } from "../components/useFocusWhenShown";
import { usePrintedRange } from "../components/usePrintedRange";
import { LATER, useKeys } from "../keys";
import { CellView } from "./CellView";
import { valueIn } from "./cells";
import type { Cell } from "./data";
import type { ShownColumn } from "./draft";

/** A row as the table shows it; without cells, it is being loaded. */
export interface ShownRow {
  key: string;
  number: ReactNode;
  cells: Readonly<Record<string, Cell>> | null;
  changed: ReadonlySet<string>;
  /** Struck out: deleted, or moved to another place. */
  gone: boolean;
  isNew: boolean;
}

export interface Place {
  index: number;
  column: string;
}

interface RowsTableProps {
  label: string;
  columns: readonly ShownColumn[];
  head: (column: ShownColumn) => ReactNode;
  count: number;
  rowAt: (index: number) => ShownRow;
  isLoaded: (index: number) => boolean;
  /** Which rows can be seen. */
  onRange: (first: number, last: number) => void;
  at: Place | null;
  onMove: (place: Place) => void;
  /** The cell that is edited, by the key of its row, and its editor. */
  editing: { key: string; column: string } | null;
  editor: (index: number) => ReactNode;
  onEdit: (place: Place) => void;
  menu: (index: number) => ReactNode;
  /** Opens the whole row. */
  onOpen: (index: number) => void;
}

const ROW = 60;
const NUMBER = 72;
const NARROWEST = 170;

/** A table of any number of rows, of which only those that can be seen are in the page. Cells are edited in place. */
export function RowsTable(props: RowsTableProps) {
  const { label, columns, count, rowAt, onRange, at, onMove, editing, onEdit } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const rangeExtractor = usePrintedRange(props.isLoaded);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 8,
    rangeExtractor,
    useFlushSync: false,
  });
  const shown = virtual.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => onRange(first, last), [first, last, onRange]);

  const wanted = useRef(at?.index);
  const ready = count > 0;
  useEffect(() => {
    // The row that the address names is shown once.
    if (ready && wanted.current !== undefined) virtual.scrollToIndex(wanted.current, { align: "center" });
    if (ready) wanted.current = undefined;
  }, [ready, virtual]);

  const focus = useFocusWhenShown();
  const focusCell = (place: Place) => focus(() => cellAt(scroll.current, place));
  const edited = useRef(editing);
  useLayoutEffect(() => {
    // The cell has the focus again before the next key is read.
    if (edited.current && !editing) cellOf(scroll.current, edited.current)?.focus();
    edited.current = editing;
  }, [editing]);

  const go = (index: number, column: string) => {
    const next = { index: Math.min(count - 1, Math.max(0, index)), column };
    onMove(next);
    virtual.scrollToIndex(next.index);
    focusCell(next);
  };
  const move = (rows: number, across: number) => {
    if (!count) return LATER;
    const place = Math.max(
      0,
      columns.findIndex((column) => column.key === at?.column),
    );
    const column = columns[Math.min(columns.length - 1, Math.max(0, place + across))];
    if (column) go(at ? at.index + rows : 0, column.key);
  };
  const step = Math.max(1, last - first - 4);
  useKeys([
    { keys: "j", does: "Next row", run: () => move(1, 0) },
    { keys: "k", does: "Row before", run: () => move(-1, 0) },
    { keys: ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"], does: "Move in the table" },
    { keys: "Enter", does: "Edit the cell" },
    { keys: "o", does: "Open the row", run: () => at && props.onOpen(at.index) },
    { keys: "Mod+Enter", does: "Keep what was typed into a cell" },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const cell = event.target instanceof HTMLElement && ["TD", "DIV"].includes(event.target.tagName);
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") {
      if (!at) return;
      onEdit(at);
    } else {
      const by = MOVES[event.key];
      if (!by) return;
      move(by[0] * (event.key.startsWith("Page") ? step : 1), by[1]);
    }
    event.preventDefault();
  };
  const lastItem = shown.at(-1);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: The keys move within its cells.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <div className="table-scroll rows-scroll" ref={scroll} tabIndex={0} onKeyDown={onKeyDown}>
      <table
        className="data-table rows-table"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: A grid is a table whose cells take the focus.
        role="grid"
        aria-label={label}
        aria-rowcount={count + 1}
        style={{ minWidth: NUMBER + columns.length * NARROWEST }}
      >
        <thead>
          <tr>
            <th scope="col" className="row-number">
              Row
            </th>
            {columns.map((column) => (
              <th key={column.key} scope="col">
                {props.head(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={shown[0]?.start ?? 0} columns={columns.length + 1} />
          {shown.map(({ index }) => {
            const row = rowAt(index);
            const marks = `${row.gone ? "gone" : ""} ${row.isNew ? "fresh" : ""}`.trim();
            return (
              <tr
                key={row.key}
                ref={virtual.measureElement}
                data-index={index}
                data-key={row.key}
                aria-rowindex={index + 2}
                className={marks || undefined}
                data-selected={at?.index === index ? "" : undefined}
              >
                <th scope="row" className="row-number">
                  <button type="button" className="link" onClick={() => props.onOpen(index)} tabIndex={-1}>
                    {row.number}
                  </button>
                  {props.menu(index)}
                </th>
                {editing?.key === row.key ? (
                  <td colSpan={columns.length} className="edited">
                    <span className="quiet">{editing.column}</span>
                    {props.editor(index)}
                  </td>
                ) : (
                  columns.map((column) => {
                    const here = at?.index === index && at.column === column.key;
                    return (
                      // biome-ignore lint/a11y/useKeyWithClickEvents: Enter edits, by the keys of the table.
                      <td
                        key={column.key}
                        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: The cells of a grid.
                        role="gridcell"
                        data-column={column.key}
                        data-changed={row.changed.has(column.key) ? "" : undefined}
                        aria-selected={here}
                        tabIndex={here ? 0 : -1}
                        onClick={() => onMove({ index, column: column.key })}
                        onDoubleClick={() => onEdit({ index, column: column.key })}
                      >
                        {row.cells ? (
                          <CellView cell={valueIn(row.cells, column.key)} />
                        ) : (
                          <span className="quiet">…</span>
                        )}
                      </td>
                    );
                  })
                )}
              </tr>
            );
          })}
          <Space height={lastItem ? virtual.getTotalSize() - lastItem.end : 0} columns={columns.length + 1} />
        </tbody>
      </table>
    </div>
  );
}

const MOVES: Record<string, [number, number]> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [1, 0],
  PageUp: [-1, 0],
};

function cellAt(scroll: HTMLElement | null, { index, column }: Place): HTMLElement | undefined {
  return cellIn(scroll?.querySelector(`tr[data-index="${index}"]`), column);
}

function cellOf(scroll: HTMLElement | null, { key, column }: { key: string; column: string }): HTMLElement | undefined {
  return cellIn(scroll?.querySelector(`tr[data-key="${CSS.escape(key)}"]`), column);
}

function cellIn(row: Element | null | undefined, column: string): HTMLElement | undefined {
  return [...(row?.querySelectorAll<HTMLElement>("td") ?? [])].find((cell) => cell.dataset.column === column);
}

function Space({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="space">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
