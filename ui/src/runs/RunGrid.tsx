import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { failure } from "../api/client";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { OutcomeMark, useOutcomes } from "./outcomes";
import { useAskAgain } from "./parts";
import { type GridRow, gridQuery, type OutcomeWords } from "./queries";

const route = getRouteApi("/runs/$run");

/** So many trials stand beside each other; the API gives as many. */
const TRIALS = 100;

/** So many stand in one line, where there is room. */
const BESIDE = 16;

/** Tasks x trials: each cell leads to its episode. */
export function RunGrid({ run, finished }: { run: string; finished: number }) {
  const { trials: first = 0 } = route.useSearch();
  const navigate = useNavigate();
  const words = useOutcomes();
  const found = useInfiniteQuery(gridQuery(run, first));
  useAskAgain(String(finished), found);
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  const columns = useMemo(() => columnsOf(run, first, words), [run, first, words]);
  const head = found.data?.pages[0];
  if (failure(found)) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (!head) return <Loading what="the tasks" />;
  if (!rows.length) return <EmptyState title="The run has no tasks." />;
  return (
    <>
      <div className="grid-head">
        <ul className="outcome-legend">
          {head.legend.map((one) => (
            <li key={one.outcome}>
              <Link to="/runs/$run" params={{ run }} search={{ tab: "episodes", outcome: one.outcome }}>
                <OutcomeMark outcome={one} /> {one.label}
              </Link>{" "}
              <span className="quiet">{one.count.toLocaleString("en")}</span>
            </li>
          ))}
        </ul>
        {head.trials > TRIALS && <TrialPages run={run} first={first} trials={head.trials} />}
      </div>
      <div className="list-frame">
        <DataTable
          label="Tasks and what became of each trial"
          columns={columns}
          rows={rows}
          keyOf={(row) => String(row.task)}
          onOpen={(row) =>
            void navigate({ to: "/runs/$run", params: { run }, search: { tab: "episodes", task: row.task } })
          }
          onEnd={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()}
        />
      </div>
    </>
  );
}

function TrialPages({ run, first, trials }: { run: string; first: number; trials: number }) {
  const last = Math.min(trials, first + TRIALS) - 1;
  return (
    <nav className="trial-pages" aria-label="Trials">
      {first > 0 && (
        <Link to="/runs/$run" params={{ run }} search={{ tab: "tasks", trials: Math.max(0, first - TRIALS) }}>
          Earlier trials
        </Link>
      )}
      <span className="quiet">
        Trials {first} to {last} of {trials}
      </span>
      {last + 1 < trials && (
        <Link to="/runs/$run" params={{ run }} search={{ tab: "tasks", trials: first + TRIALS }}>
          Later trials
        </Link>
      )}
    </nav>
  );
}

function columnsOf(run: string, first: number, words: (outcome: string | null) => OutcomeWords): Column<GridRow>[] {
  return [
    { id: "task", name: "Task", cell: (row) => row.task, number: true },
    {
      id: "trials",
      name: "Trials",
      cell: (row) => (
        <div className="row" style={{ minWidth: `min(${1.6 * Math.min(row.outcomes.length, BESIDE)}rem, 45vw)` }}>
          {row.outcomes.map((outcome, place) => (
            <GridCell
              // biome-ignore lint/suspicious/noArrayIndexKey: The place is the trial.
              key={first + place}
              run={run}
              task={row.task}
              trial={first + place}
              outcome={outcome}
              words={words(outcome)}
            />
          ))}
        </div>
      ),
    },
    { id: "solved", name: "Solved", cell: (row) => row.solved, number: true },
    { id: "reward", name: "Reward", cell: (row) => row.reward, number: true, wide: true },
    { id: "wish", name: "What the user wants", cell: (row) => <div className="clamped">{row.wish}</div>, wide: true },
  ];
}

interface GridCellProps {
  run: string;
  task: number;
  trial: number;
  outcome: string | null;
  words: OutcomeWords;
}

function GridCell({ run, task, trial, outcome, words }: GridCellProps) {
  const name = `Task ${task}, trial ${trial}: ${words.label}`;
  if (outcome === null) return <span className="cell missing" title={name} role="img" aria-label={name} />;
  return (
    <Link
      className={`cell ${words.tone}`}
      data-outcome={outcome}
      to="/runs/$run/episodes/$task/$trial"
      params={{ run, task: String(task), trial: String(trial) }}
      preload={false}
      title={name}
      aria-label={name}
    >
      {words.symbol}
    </Link>
  );
}
