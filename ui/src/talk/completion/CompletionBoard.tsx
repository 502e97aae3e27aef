import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useRef, useState } from "react";
import { failure } from "../../api/client";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { Loading } from "../../components/Loading";
import { useFocusWhenShown } from "../../components/useFocusWhenShown";
import { useNarrow } from "../../components/useNarrow";
import { usePrintedRange } from "../../components/usePrintedRange";
import type { JsonObject } from "../../json";
import { LATER, useKeys } from "../../keys";
import {
  type Board,
  deleteThread,
  refreshBoard,
  restoreThread,
  stopTurn,
  type ThreadHead,
  workflowsQuery,
} from "../api";
import { parameterWords } from "../parameters";
import { useWorkflow } from "../useWorkflow";
import { addRow, PAGE_ROWS, rowsQuery } from "./data";
import { InputsCell } from "./InputsCell";
import { LoadTestSet } from "./LoadTestSet";
import { OutputCell } from "./OutputCell";
import { useRunAll } from "./useRunAll";
import "./completion.css";

export interface CompletionBoardProps {
  board: string;
}

/** The board as a table: a row of inputs, and the outputs of each column. */
export function CompletionBoard({ board }: CompletionBoardProps) {
  const first = useQuery(rowsQuery(board, 0));
  if (failure(first)) return <ErrorNote error={first.error} onRetry={() => first.refetch()} />;
  if (!first.data) return <Loading what="the table" />;
  return <Table board={first.data} />;
}

const ROW = 150;
const NARROWEST = 240;
/** On a phone, an output stands beside its inputs without scrolling; a form for the inputs needs more. */
const PHONE = { inputs: 120, form: 240, output: 216 };

function Table({ board }: { board: Board }) {
  const queries = useQueryClient();
  const scroll = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const [raw, setRaw] = useState(false);
  const [loading, setLoading] = useState(false);
  const [editing, setEditing] = useState<ReadonlySet<number>>(new Set());
  // What is typed outlives its row's being scrolled out of the page.
  const typed = useRef(new Map<string, JsonObject>());
  const forInputs = editing.size ? PHONE.form : PHONE.inputs;
  const [at, setAt] = useState<number | null>(null);
  const [removed, setRemoved] = useState<readonly ThreadHead[]>([]);
  const first = useWorkflow(board.columns[0]?.address ?? "");
  const listed = useQuery(workflowsQuery).data?.items ?? [];
  const workflows = board.columns
    .map(({ address }) => (address === first?.address ? first : listed.find((one) => one.address === address)))
    .filter((one) => one !== undefined);
  const runs = useRunAll(board.id);
  const highest = useRef(0);
  const count = Math.max(board.rows, highest.current);
  const rangeExtractor = usePrintedRange((row) => {
    const page = rowsQuery(board.id, Math.floor(row / PAGE_ROWS));
    return queries.getQueryData(page.queryKey) !== undefined;
  });
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 3,
    rangeExtractor,
    useFlushSync: false,
  });
  const shown = virtual.getVirtualItems();
  const rows = useRows(board.id, shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0);
  // Rows that were deleted leave gaps in the numbers.
  highest.current = Math.max(highest.current, rows.highest + 1);

  const refresh = () => refreshBoard(queries, board.id);
  const change = useMutation({ mutationFn: (act: () => Promise<unknown>) => act(), onSettled: refresh });
  const { run } = runs;
  const onRun = useCallback((head: ThreadHead) => run([head.id]), [run]);
  const { mutate } = change;
  const onStop = useCallback((turn: string) => mutate(() => stopTurn(turn)), [mutate]);
  const runRow = (row: number) => run(rows.at(row).map((head) => head.id));
  const edit = (row: number) => setEditing((rows) => new Set([...rows, row]));
  const leave = (row: number) => {
    for (const head of rows.at(row)) typed.current.delete(head.id);
    setEditing((open) => new Set([...open].filter((one) => one !== row)));
  };
  const remove = (heads: readonly ThreadHead[]) =>
    change.mutate(async () => {
      for (const head of heads) await deleteThread(head.id);
      setRemoved(heads);
    });
  const focus = useFocusWhenShown();
  const move = (by: number) => {
    if (!count) return LATER;
    const next = Math.min(count - 1, Math.max(0, at === null ? 0 : at + by));
    setAt(next);
    virtual.scrollToIndex(next);
    focus(() => scroll.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`));
  };
  useKeys([
    { keys: ["j", "ArrowDown"], does: "Next row", run: () => move(1) },
    { keys: ["k", "ArrowUp"], does: "Row before", run: () => move(-1) },
    { keys: "e", does: "Edit the inputs of the row", run: () => at !== null && edit(at) },
    { keys: "Mod+Enter", does: "Run the row", run: () => at !== null && runRow(at) },
    { keys: "Mod+Shift+Enter", does: "Run all rows", run: () => run(null) },
    { keys: "Escape", does: "Leave the form", run: () => at !== null && leave(at) },
  ]);
  const { progress } = runs;
  const open = progress !== null && progress.ended < progress.started;
  const last = shown.at(-1);
  return (
    <div className="completion">
      <div className="tools">
        <button type="button" className="main" disabled={runs.starting || !count} onClick={() => run(null)}>
          Run all
        </button>
        {open && (
          <button type="button" onClick={runs.stop}>
            Stop
          </button>
        )}
        {(runs.starting || (progress !== null && progress.started > 0)) && (
          <span role="status" className="run-progress">
            <progress max={progress?.started ?? 1} value={progress?.ended ?? 0} aria-label="Outputs that ended" />
            {progress?.ended ?? 0} of {progress?.started ?? 0} ended{runs.starting && ", others are being started"}
          </span>
        )}
        <button type="button" disabled={!board.columns.length} onClick={() => change.mutate(() => addRow(board, {}))}>
          Add a row
        </button>
        <button type="button" disabled={!board.columns.length} onClick={() => setLoading(true)}>
          Load a test set
        </button>
        <button type="button" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          Raw outputs
        </button>
        {board.test_set && <span>from {board.test_set}</span>}
      </div>
      {removed.length > 0 && (
        <div className="undo-note" role="status">
          The row was deleted.
          <button
            type="button"
            className="small"
            onClick={() =>
              change.mutate(async () => {
                for (const head of removed) await restoreThread(head.id);
                setRemoved([]);
              })
            }
          >
            Undo
          </button>
        </div>
      )}
      {runs.error && <ErrorNote error={runs.error} />}
      {change.error && <ErrorNote error={change.error} />}
      {rows.error && <ErrorNote error={rows.error} onRetry={refresh} />}
      {runs.skipped.length > 0 && (
        <p className="warning-note">
          {runs.skipped.length === 1 ? "One was not started" : `${runs.skipped.length} were not started`}:{" "}
          {runs.skipped[0]?.why}
        </p>
      )}
      {!count && (
        <EmptyState title={board.columns.length ? "There are no rows yet." : "There is no workflow yet."}>
          <p>
            {board.columns.length
              ? "Add a row and fill in its inputs, or load the rows of a test set."
              : "Choose one with New thread, above."}
          </p>
        </EmptyState>
      )}
      {count > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
        <section className="table-scroll" ref={scroll} tabIndex={0} aria-label="Rows of inputs and their outputs">
          <table
            className="data-table completion-table"
            aria-rowcount={count + 1}
            style={{
              minWidth: narrow
                ? forInputs + board.columns.length * PHONE.output
                : (board.columns.length + 1) * NARROWEST,
            }}
          >
            <thead>
              <tr>
                <th scope="col" style={narrow ? { width: forInputs } : {}}>
                  Inputs
                </th>
                {board.columns.map((column) => (
                  <th scope="col" key={column.column}>
                    {column.name} <span className="quiet">{parameterWords(column.parameters)}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              <Space height={shown[0]?.start ?? 0} columns={board.columns.length + 1} />
              {shown.map(({ index }) => {
                const heads = rows.at(index);
                return (
                  <tr
                    key={index}
                    ref={virtual.measureElement}
                    data-index={index}
                    data-selected={at === index ? "" : undefined}
                    aria-rowindex={index + 2}
                    tabIndex={-1}
                    onFocus={() => setAt(index)}
                  >
                    {heads.length > 0 ? (
                      <>
                        <td>
                          <div className="row-line">
                            <span className="quiet">{index + 1}</span>
                            <button
                              type="button"
                              className="small plain"
                              aria-label={`Delete row ${index + 1}`}
                              onClick={() => remove(heads)}
                            >
                              ×
                            </button>
                          </div>
                          <InputsCell
                            heads={heads}
                            workflows={workflows}
                            editing={editing.has(index)}
                            typed={typed.current}
                            onEdit={() => edit(index)}
                            onLeave={() => leave(index)}
                            onRun={() => runRow(index)}
                          />
                        </td>
                        {board.columns.map((column) => (
                          <td key={column.column}>
                            <OutputCell
                              head={heads.find((head) => head.column === column.column)}
                              raw={raw}
                              onRun={onRun}
                              onStop={onStop}
                            />
                          </td>
                        ))}
                      </>
                    ) : (
                      <td colSpan={board.columns.length + 1} className="quiet">
                        {rows.has(index) ? `Row ${index + 1} was deleted.` : "…"}
                      </td>
                    )}
                  </tr>
                );
              })}
              <Space height={last ? virtual.getTotalSize() - last.end : 0} columns={board.columns.length + 1} />
            </tbody>
          </table>
        </section>
      )}
      <LoadTestSet board={board} open={loading} onClose={() => setLoading(false)} />
    </div>
  );
}

interface Rows {
  at: (row: number) => readonly ThreadHead[];
  /** Whether the row's page is loaded. */
  has: (row: number) => boolean;
  highest: number;
  error: Error | null;
}

/** The threads of the rows that can be seen. */
function useRows(board: string, first: number, last: number): Rows {
  const from = Math.floor(first / PAGE_ROWS);
  const pages = Array.from({ length: Math.floor(last / PAGE_ROWS) - from + 1 }, (_, place) => from + place);
  const found = useQueries({ queries: pages.map((page) => rowsQuery(board, page)) });
  const rows = new Map<number, ThreadHead[]>();
  const loaded = new Set<number>();
  let highest = -1;
  pages.forEach((page, place) => {
    const data = found[place]?.data;
    if (!data) return;
    loaded.add(page);
    for (const head of data.threads) {
      highest = Math.max(highest, head.row);
      // A page goes on behind its end if rows are missing in it.
      if (Math.floor(head.row / PAGE_ROWS) === page) rows.set(head.row, [...(rows.get(head.row) ?? []), head]);
    }
  });
  return {
    at: (row) => rows.get(row) ?? [],
    has: (row) => loaded.has(Math.floor(row / PAGE_ROWS)),
    highest,
    error: found.find((query) => query.error)?.error ?? null,
  };
}

function Space({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="space">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
