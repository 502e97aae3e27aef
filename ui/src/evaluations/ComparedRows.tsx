import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate, useRouter } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { LATER, useKeys } from "../keys";
import { changeWords, lineOf, Outcome } from "./parts";
import { type ComparedRow, comparedRowsQuery, type ResultItem, resultQuery } from "./queries";
import { ResultBody } from "./ResultBody";
import { CHANGES, type Change } from "./routes";

const route = getRouteApi("/evaluations/compare");
const TONES: Record<Change, string> = { broke: "bad", healed: "good", same: "" };

interface ComparedRowsProps {
  a: string;
  b: string;
  counts: Record<Change | "left_out", number>;
}

/** The rows of two evaluations; which change is shown and which row is open are in the address. */
export function ComparedRows({ a, b, counts }: ComparedRowsProps) {
  const { change, row } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const found = useInfiniteQuery(comparedRowsQuery(a, b, change));
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  const at = rows.findIndex((one) => one.item === row);
  const shared = { a, b, ...(change ? { change } : {}) };
  const open = (item: number | undefined, replace = false) =>
    void navigate({
      to: "/evaluations/compare",
      search: { ...shared, ...(item === undefined ? {} : { row: item }) },
      replace,
      resetScroll: false,
    });
  const loadMore = () => {
    if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
  };
  const move = (by: number) => {
    // What was pressed last may not be drawn yet.
    const { row } = router.latestLocation.search;
    const to = Math.max(0, rows.findIndex((one) => one.item === row) + by);
    const next = rows[to];
    if (next) open(next.item, true);
    if (to >= rows.length - 2) loadMore();
    return next || !found.isFetching ? undefined : LATER;
  };
  const isOpen = row !== undefined;
  useKeys(
    isOpen
      ? [
          { keys: "j", does: "Next row", run: () => move(1) },
          { keys: "k", does: "Row before", run: () => move(-1) },
          { keys: "Escape", does: "Close the row", run: () => open(undefined) },
        ]
      : [],
  );
  const columns = useMemo(() => columnsOf(), []);
  const all = CHANGES.reduce((sum, one) => sum + counts[one], 0);
  return (
    <section className="flips" aria-labelledby="rows-title">
      <h2 id="rows-title">
        {counts.broke.toLocaleString("en")} broke, {counts.healed.toLocaleString("en")} healed
      </h2>
      <nav className="tools" aria-label="Which rows">
        {([undefined, ...CHANGES] as const).map((one) => (
          <Link
            key={one ?? "all"}
            to="/evaluations/compare"
            search={{ a, b, ...(one ? { change: one } : {}) }}
            replace
            activeOptions={{ exact: true, includeSearch: true }}
            data-current={one === change ? "" : undefined}
          >
            {one ?? "all"} ({(one ? counts[one] : all).toLocaleString("en")})
          </Link>
        ))}
        {counts.left_out > 0 && (
          <span>{counts.left_out.toLocaleString("en")} rows have an answer in one of the two only.</span>
        )}
      </nav>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the rows" />}
      {found.data && !rows.length && <EmptyState title={change ? `No row ${WORDS[change]}.` : "There are no rows."} />}
      {rows.length > 0 && (
        <div className="list-frame compared-list">
          <DataTable
            label="Rows of both evaluations"
            columns={columns}
            rows={rows}
            keyOf={(one) => String(one.item)}
            onOpen={(one) => open(one.item)}
            current={row === undefined ? undefined : String(row)}
            onEnd={loadMore}
            quiet={isOpen}
          />
        </div>
      )}
      {isOpen && <Beside a={a} b={b} row={row} known={rows[at]} onClose={() => open(undefined)} />}
    </section>
  );
}

const WORDS: Record<Change, string> = { broke: "broke", healed: "healed", same: "stayed the same" };

function columnsOf(): Column<ComparedRow>[] {
  return [
    { id: "row", name: "Row", cell: (one) => one.item + 1, number: true },
    {
      id: "change",
      name: "",
      cell: (one) => (
        <span className={`badge ${TONES[one.change]}`} title={one.evaluators.map((other) => other.alias).join(", ")}>
          {one.change}
        </span>
      ),
    },
    { id: "input", name: "Input", cell: (one) => <div className="clamped">{one.question}</div>, wide: true },
    { id: "before", name: "Before", cell: (one) => <Side results={one.before} /> },
    {
      id: "now",
      name: "Now",
      cell: (one) => (
        <>
          <Side results={one.now} />
          <div className="narrow quiet">{changeWords(one)}</div>
        </>
      ),
    },
    {
      id: "evaluators",
      name: "What changed",
      cell: (one) => changeWords(one),
      wide: true,
    },
  ];
}

function Side({ results }: { results: readonly ResultItem[] }) {
  const [first] = results;
  if (!first) return <span className="quiet">–</span>;
  return (
    <div className="side-line">
      <Outcome one={first.outcome} />
      <div className="clamped">{first.error ?? lineOf(first.outputs)}</div>
    </div>
  );
}

interface BesideProps {
  a: string;
  b: string;
  row: number;
  known: ComparedRow | undefined;
  onClose: () => void;
}

/** A row of both evaluations in full, side by side. */
function Beside({ a, b, row, known, onClose }: BesideProps) {
  return (
    <section className="beside" aria-label={`Row ${row + 1} of both evaluations`}>
      <header>
        <h3>Row {row + 1}</h3>
        {known && <span className={`badge ${TONES[known.change]}`}>{known.change}</span>}
        <button type="button" className="small plain" aria-label="Close the row" onClick={onClose}>
          ×
        </button>
      </header>
      <div className="beside-sides">
        <Whole title="Before" name={a} row={row} />
        <Whole title="Now" name={b} row={row} />
      </div>
    </section>
  );
}

function Whole({ title, name, row }: { title: string; name: string; row: number }) {
  const found = useQuery(resultQuery(name, row, 0));
  return (
    <div className="beside-side">
      <p>
        <b>{title}</b>{" "}
        <Link to="/evaluations/$name" params={{ name }} search={{ row }}>
          {name}
        </Link>{" "}
        {found.data && <Outcome one={found.data.outcome} />}
      </p>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the result" />}
      {found.data && <ResultBody result={found.data} />}
    </div>
  );
}
