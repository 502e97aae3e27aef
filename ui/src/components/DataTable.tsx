import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { LATER, useKeys } from "../keys";
import { useFocusWhenShown } from "./useFocusWhenShown";
import { usePrintedRange } from "./usePrintedRange";

export interface Column<Row> {
  id: string;
  name: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  number?: boolean;
  /** Left out on a narrow screen. */
  wide?: boolean;
  /** The list can be sorted by it. */
  sorts?: boolean;
}

export interface Sort {
  by: string;
  down: boolean;
}

interface DataTableProps<Row> {
  /** What the table holds, for people who do not see it. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Enter or a click on a row. */
  onOpen?: (row: Row) => void;
  /** The key of the row that is open or was named by the address. */
  current?: string | undefined;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** Called when the last row is near: load the next page. */
  onEnd?: (() => void) | undefined;
  /** Without the keys j and k: for the second table of a page. */
  quiet?: boolean;
}

const ROW = 34;

/** A table of any length: only the rows that can be seen are in the page. j, k and arrows move, Enter opens. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, onOpen, current, sort, onSort, onEnd, quiet } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const found = current === undefined ? -1 : rows.findIndex((row) => keyOf(row) === current);
  const [chosen, setChosen] = useState(found);
  const rangeExtractor = usePrintedRange();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 10,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
    rangeExtractor,
    useFlushSync: false,
  });
  useEffect(() => {
    if (found < 0) return;
    setChosen(found);
    virtual.scrollToIndex(found);
  }, [found, virtual]);

  const shown = virtual.getVirtualItems();
  const last = shown.at(-1);
  const lastIndex = last?.index;
  useEffect(() => {
    if (lastIndex !== undefined && lastIndex >= rows.length - 1) onEnd?.();
  }, [lastIndex, rows.length, onEnd]);

  const focus = useFocusWhenShown();
  const move = (by: number) => {
    if (!rows.length) return LATER;
    const next = Math.min(rows.length - 1, Math.max(0, chosen + by));
    setChosen(next);
    virtual.scrollToIndex(next);
    focus(() => scroll.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`));
  };
  const openRow = (index: number) => {
    const row = rows[index];
    if (row !== undefined) onOpen?.(row);
  };
  useKeys(
    quiet
      ? []
      : [
          { keys: "j", does: "Next row", run: () => move(1) },
          { keys: "k", does: "Row before", run: () => move(-1) },
          { keys: ["ArrowDown", "ArrowUp"], does: "Move in the table" },
          ...(onOpen ? [{ keys: "Enter", does: "Open the row" }] : []),
        ],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || !["TR", "DIV"].includes(event.target.tagName)) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter" && chosen >= 0) openRow(chosen);
    else return;
    event.preventDefault();
  };
  const top = shown[0]?.start ?? 0;
  const bottom = last ? virtual.getTotalSize() - last.end : 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    // biome-ignore lint/a11y/noStaticElementInteractions: The keys move within its rows.
    <div className="table-scroll" ref={scroll} tabIndex={0} onKeyDown={onKeyDown}>
      <table className="data-table" aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={top} columns={columns.length} />
          {shown.map((one) => {
            const row = rows[one.index];
            if (row === undefined) return null;
            return (
              <tr
                key={one.key}
                ref={virtual.measureElement}
                data-index={one.index}
                data-open={onOpen ? "" : undefined}
                data-selected={one.index === chosen ? "" : undefined}
                aria-rowindex={one.index + 2}
                tabIndex={-1}
                onClick={(event) => {
                  setChosen(one.index);
                  // Links, buttons and fields in a row do what they do.
                  const inner =
                    event.target instanceof Element && event.target.closest("a, button, input, select, label, summary");
                  if (!inner && !window.getSelection()?.toString()) openRow(one.index);
                }}
                onKeyDown={(event) => {
                  if (event.key !== "Enter" || event.target !== event.currentTarget) return;
                  event.preventDefault();
                  event.stopPropagation();
                  openRow(one.index);
                }}
              >
                {columns.map((column) => (
                  <td key={column.id} className={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Space height={bottom} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function classOf(column: { number?: boolean; wide?: boolean }): string {
  return `${column.number ? "number" : ""} ${column.wide ? "wide" : ""}`.trim();
}

function Space({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="space">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

interface HeadCellProps<Row> {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}

function HeadCell<Row>({ column, sort, onSort }: HeadCellProps<Row>) {
  const sorted = sort?.by === column.id;
  const order = sorted ? (sort.down ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" className={classOf(column)} aria-sort={order}>
      {column.sorts && onSort ? (
        <button type="button" onClick={() => onSort({ by: column.id, down: sorted ? !sort.down : false })}>
          {column.name}
        </button>
      ) : (
        column.name
      )}
    </th>
  );
}
