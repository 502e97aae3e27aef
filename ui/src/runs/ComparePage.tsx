import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { failure, isGone } from "../api/client";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Sections } from "../components/sections/Sections";
import { VerdictHead } from "../components/VerdictHead";
import { dateWords } from "../time";
import { Command } from "./parts";
import { addressOf, comparisonQuery, type FlippedTask, flipsQuery, type Pair, type RunItem, runQuery } from "./queries";
import { RunChoice } from "./RunChoice";
import "./runs.css";

const route = getRouteApi("/runs/compare");

/** Two runs paired task by task: the verdict in words, figures of both, what broke and healed. */
export function ComparePage() {
  const { a, b, flips, tasks } = route.useSearch();
  const navigate = useNavigate();
  const equally = tasks ? { tasks } : {};
  const open = (next: { a?: string; b?: string }, which: { tasks?: "equal" } = equally) =>
    void navigate({
      to: "/runs/compare",
      search: { ...(a ? { a } : {}), ...(b ? { b } : {}), ...which, ...next },
      replace: true,
    });
  return (
    <Page
      title="Compare two runs"
      above={<Link to="/runs">Runs</Link>}
      actions={
        <>
          <RunChoice label="Before" value={a} onChoose={(run) => open({ a: run })} />
          <RunChoice label="Now" value={b} onChoose={(run) => open({ b: run })} />
          {a && b && (
            <label className="tick">
              <input
                type="checkbox"
                checked={tasks === "equal"}
                onChange={(event) => open({}, event.target.checked ? { tasks: "equal" } : {})}
              />
              Only equal tasks
            </label>
          )}
          {a && b && (
            <Link className="button" to="/runs/compare" search={{ a: b, b: a, ...equally }}>
              Swap
            </Link>
          )}
        </>
      }
    >
      {a && b ? (
        <Comparison pair={{ a, b, equal: tasks === "equal" }} flips={flips} />
      ) : (
        <EmptyState title={a || b ? "Choose the other run." : "Choose two runs on the same tasks."}>
          <p>The first is the one before; the second is compared with it, task by task.</p>
        </EmptyState>
      )}
    </Page>
  );
}

interface ComparisonProps {
  pair: Pair;
  flips: "broke" | "healed" | undefined;
}

function Comparison({ pair, flips }: ComparisonProps) {
  const found = useQuery(comparisonQuery(pair));
  const data = found.data;
  const gone = [useQuery(runQuery(pair.a)), useQuery(runQuery(pair.b))].find(isGone);
  if (gone) {
    return (
      <Gone what="run" name={gone.data?.name ?? ""}>
        <Link to="/runs">Choose another run</Link>
      </Gone>
    );
  }
  if (failure(found)) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (!data) return <Loading what="the comparison" />;
  const option = pair.equal ? " --equal-tasks" : "";
  return (
    <>
      {pair.equal && (
        <p className="warning-note" role="note">
          Only tasks that are equal in both runs are compared. They have the numbers of the run before.
        </p>
      )}
      <VerdictHead verdict={data.verdict} sentence={data.sentence} notes={data.notes}>
        <dl className="facts">
          <Who title="Before" run={data.a} />
          <Who title="Now" run={data.b} />
        </dl>
        <p className="quiet">
          In a terminal: <Command text={`greenroom compare ${data.a.name} ${data.b.name}${option}`} />
        </p>
      </VerdictHead>
      <section className="flips" aria-labelledby="flips-title">
        <h2 id="flips-title">
          {data.broke} broke, {data.healed} healed
        </h2>
        <Flips pair={pair} direction={flips} total={data.broke + data.healed} />
      </section>
      <Sections sections={data.sections} />
    </>
  );
}

function Who({ title, run }: { title: string; run: RunItem }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <Link to="/runs/$run" params={{ run: addressOf(run) }}>
          {run.name}
        </Link>{" "}
        <span className="quiet">
          {run.agent}
          {run.model ? ` (${run.model})` : ""}, {dateWords(run.created_at)}
        </span>
      </dd>
    </div>
  );
}

interface FlipsProps {
  pair: Pair;
  direction: "broke" | "healed" | undefined;
  total: number;
}

function Flips({ pair, direction, total }: FlipsProps) {
  const { a, b, equal } = pair;
  const navigate = useNavigate();
  const found = useInfiniteQuery(flipsQuery(pair, direction));
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  const columns = useMemo(() => columnsOf(a, b), [a, b]);
  if (!total) return <p className="quiet">No task went from mostly solved to mostly failed, or the other way.</p>;
  return (
    <>
      <div className="tools">
        {([undefined, "broke", "healed"] as const).map((one) => (
          <Link
            key={one ?? "all"}
            to="/runs/compare"
            search={{ a, b, ...(equal ? { tasks: "equal" } : {}), ...(one ? { flips: one } : {}) }}
            replace
            activeOptions={{ exact: true }}
          >
            {one ?? "all"}
          </Link>
        ))}
      </div>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      <div className="list-frame short">
        <DataTable
          label="Tasks that broke or healed"
          columns={columns}
          rows={rows}
          keyOf={(flip) => String(flip.task)}
          onOpen={(flip) =>
            void navigate({
              to: "/runs/$run/tasks/$task/beside",
              params: { run: a, task: String(flip.task) },
              search: besideOf(b, flip),
            })
          }
          onEnd={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()}
        />
      </div>
    </>
  );
}

/** Where a task stands in the other run, if that is another place. */
function besideOf(other: string, { task, other_task }: FlippedTask) {
  return { other, ...(other_task === task ? {} : { other_task }) };
}

function columnsOf(a: string, b: string): Column<FlippedTask>[] {
  return [
    {
      id: "task",
      name: "Task",
      cell: (flip) => (
        <Link
          className="nowrap"
          to="/runs/$run/tasks/$task/beside"
          params={{ run: a, task: String(flip.task) }}
          search={besideOf(b, flip)}
        >
          Task {flip.task}
        </Link>
      ),
    },
    {
      id: "direction",
      name: "",
      cell: (flip) => <span className={`badge ${flip.direction === "broke" ? "bad" : "good"}`}>{flip.direction}</span>,
    },
    { id: "before", name: "Before", cell: (flip) => flip.before, number: true },
    { id: "now", name: "Now", cell: (flip) => flip.now, number: true },
    { id: "why", name: "Why it failed", cell: (flip) => <div className="clamped reason">{flip.why}</div> },
    { id: "wish", name: "What the user wants", cell: (flip) => <div className="clamped">{flip.wish}</div>, wide: true },
  ];
}
