import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Choice } from "../components/Choice";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { SearchField } from "../components/SearchField";
import { LATER, useKeys } from "../keys";
import { costWords, secondsWords } from "../numbers";
import { oneOf, text } from "../search";
import { lineOf, Outcome, Score } from "./parts";
import { type Evaluation, type ResultFilter, type ResultItem, resultsQuery } from "./queries";
import { ResultPanel } from "./ResultPanel";

const route = getRouteApi("/evaluations/$name");
/** So many evaluators have a column of their own. */
const MOST_COLUMNS = 4;

interface ResultsViewProps {
  name: string;
  one: Evaluation;
}

const keyOf = (result: { item: number; trial: number }) => `${result.item} ${result.trial}`;

/** The results of an evaluation, and the one that is open. Every filter is in the address, and so is the open row. */
export function ResultsView({ name, one }: ResultsViewProps) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const { row, repeat = 0 } = search;
  const filter = useMemo(() => filterOf(search), [search]);
  const found = useInfiniteQuery(resultsQuery(name, filter));
  const results = found.data?.pages.flatMap((page) => page.items) ?? [];
  const current = row === undefined ? undefined : keyOf({ item: row, trial: repeat });
  const filterBy = useCallback(
    (next: Record<string, string>) =>
      void navigate({
        to: "/evaluations/$name",
        params: { name },
        search: filterOf({ ...filter, ...next }),
        replace: true,
      }),
    [navigate, name, filter],
  );
  const find = useCallback((q: string) => filterBy({ q }), [filterBy]);
  const open = (result: { item: number; trial: number } | undefined, replace = false) =>
    void navigate({
      to: "/evaluations/$name",
      params: { name },
      search: result ? { ...filter, ...placeOf(result) } : filter,
      replace,
      resetScroll: false,
    });
  const loadMore = () => {
    if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
  };
  const move = (by: number) => {
    // What was pressed last may not be drawn yet.
    const { row: item, repeat: trial = 0 } = router.latestLocation.search;
    const to = Math.max(0, results.findIndex((one) => one.item === item && one.trial === trial) + by);
    const next = results[to];
    if (next) open(next, true);
    if (to >= results.length - 2) loadMore();
    return next || !found.isFetching ? undefined : LATER;
  };
  const isOpen = row !== undefined;
  useKeys(
    isOpen
      ? [
          { keys: "j", does: "Next result", run: () => move(1) },
          { keys: "k", does: "Result before", run: () => move(-1) },
          { keys: "Escape", does: "Close the result", run: () => open(undefined) },
        ]
      : [],
  );
  const columns = useMemo(() => columnsOf(name, one, filter, isOpen), [name, one, filter, isOpen]);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <search className="tools">
        <SearchField value={filter.q ?? ""} label="Find words in rows and outputs" onChange={find} />
        <button
          type="button"
          aria-pressed={filter.only === "failed"}
          onClick={() => filterBy({ only: filter.only ? "" : "failed" })}
        >
          Only failures
        </button>
        <Choice
          label="Outcome"
          value={filter.outcome ?? ""}
          choices={one.outcomes.map((other) => [other.outcome, `${other.label} (${other.count.toLocaleString("en")})`])}
          onChoose={(outcome) => filterBy({ outcome })}
        />
        {one.evaluators.length > 1 && (
          <Choice
            label={filter.only ? "Not passed by" : "Evaluator"}
            value={filter.evaluator ?? ""}
            choices={one.evaluators.map((alias) => [alias, alias])}
            onChoose={(evaluator) => filterBy({ evaluator })}
          />
        )}
        {isFiltered && (
          <Link to="/evaluations/$name" params={{ name }} activeOptions={{ exact: true, includeSearch: true }}>
            All results
          </Link>
        )}
      </search>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the results" />}
      <div className={isOpen ? "results-split open" : "results-split"}>
        {found.data && !results.length && <NoResults filtered={isFiltered} one={one} />}
        {results.length > 0 && (
          <div className="list-frame">
            <DataTable
              label="Results"
              columns={columns}
              rows={results}
              keyOf={keyOf}
              onOpen={open}
              current={current}
              onEnd={loadMore}
              quiet={isOpen}
            />
          </div>
        )}
        {isOpen && (
          <ResultPanel
            name={name}
            one={one}
            item={row}
            trial={repeat}
            onTrial={(trial) => open({ item: row, trial }, true)}
            onMove={results.length > 1 ? move : undefined}
            onClose={() => open(undefined)}
          />
        )}
      </div>
    </>
  );
}

function NoResults({ filtered, one }: { filtered: boolean; one: Evaluation }) {
  if (filtered) return <EmptyState title="No result is like that.">Choose another filter.</EmptyState>;
  return (
    <EmptyState title="There are no results yet.">
      {one.status === "running" ? "They appear here as they come in." : "Resume makes the calls that are left."}
    </EmptyState>
  );
}

/** The filter that an address has, without what is empty. */
function filterOf(search: Record<string, unknown>): ResultFilter {
  return {
    ...text(search, "outcome"),
    ...text(search, "evaluator"),
    ...oneOf(search, "only", ["failed"]),
    ...text(search, "q"),
  };
}

const placeOf = ({ item, trial }: { item: number; trial: number }) => ({
  row: item,
  ...(trial ? { repeat: trial } : {}),
});

function columnsOf(name: string, one: Evaluation, filter: ResultFilter, isOpen: boolean): Column<ResultItem>[] {
  const few: Column<ResultItem>[] = [
    {
      id: "row",
      name: "Row",
      cell: (result) => (
        <Link
          className="nowrap"
          to="/evaluations/$name"
          params={{ name }}
          search={{ ...filter, ...placeOf(result) }}
          resetScroll={false}
          preload={false}
        >
          {one.repeats > 1 ? `${result.item + 1}, repeat ${result.trial + 1}` : result.item + 1}
        </Link>
      ),
    },
    { id: "outcome", name: "Outcome", cell: (result) => <Outcome one={result.outcome} /> },
    { id: "input", name: "Input", cell: (result) => <div className="clamped">{result.question}</div>, wide: true },
    { id: "output", name: "Output", cell: (result) => <OutputLine result={result} /> },
  ];
  if (isOpen) return few;
  return [
    ...few,
    {
      id: "expected",
      name: "Expected",
      cell: (result) => <div className="clamped">{lineOf(result.expected)}</div>,
      wide: true,
    },
    ...one.evaluators.slice(0, MOST_COLUMNS).map(
      (alias): Column<ResultItem> => ({
        id: `score ${alias}`,
        name: alias,
        cell: (result) => <Score score={result.scores.find((score) => score.alias === alias)} />,
        number: true,
      }),
    ),
    { id: "seconds", name: "Time", cell: (result) => secondsWords(result.seconds), number: true, wide: true },
    { id: "cost", name: "Cost", cell: (result) => costWords(result.cost), number: true, wide: true },
  ];
}

function OutputLine({ result }: { result: ResultItem }) {
  if (result.error) return <div className="clamped alarm">{result.error}</div>;
  return <div className="clamped">{lineOf(result.outputs)}</div>;
}
