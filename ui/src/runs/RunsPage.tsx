import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Power } from "../components/Power";
import { SearchField } from "../components/SearchField";
import { dateWords } from "../time";
import { Command, Progress, percentWords, Status, useRunEvents } from "./parts";
import { addressOf, type RunItem, runsQuery } from "./queries";
import "./runs.css";

const route = getRouteApi("/runs");

/** All runs, those that are played in a terminal too. */
export function RunsPage() {
  const { q = "" } = route.useSearch();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const found = useInfiniteQuery(runsQuery(q));
  useRunEvents();
  const runs = found.data?.pages.flatMap((page) => page.items) ?? [];
  const search = useCallback(
    (text: string) => void navigate({ to: "/runs", search: text ? { q: text } : {}, replace: true }),
    [navigate],
  );
  const toggle = useCallback(
    (run: string) =>
      setChosen((now) => (now.includes(run) ? now.filter((one) => one !== run) : [...now, run].slice(-2))),
    [],
  );
  const columns = useMemo(() => columnsOf(chosen, toggle), [chosen, toggle]);
  const [a, b] = chosen;
  const compare = a && b ? { a, b } : {};
  return (
    <Page
      title="Runs"
      actions={
        <>
          <Link className="button" to="/runs/compare" search={compare}>
            {b ? "Compare the two" : "Compare"}
          </Link>
          <Link className="button" to="/trends">
            Trends
          </Link>
        </>
      }
    >
      <div className="tools">
        <SearchField value={q} label="Find by name, agent or domain" onChange={search} />
      </div>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the runs" />}
      {found.data && !runs.length && <NoRuns q={q} />}
      {runs.length > 0 && (
        <div className="list-frame">
          <DataTable
            label="Runs"
            columns={columns}
            rows={runs}
            keyOf={(run) => run.id}
            onOpen={(run) => void navigate({ to: "/runs/$run", params: { run: addressOf(run) } })}
            onEnd={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()}
          />
        </div>
      )}
    </Page>
  );
}

function NoRuns({ q }: { q: string }) {
  if (q) return <EmptyState title={`No run has “${q}” in its name, agent or domain.`} />;
  return (
    <EmptyState title="There are no runs yet.">
      <p>Start one in a terminal. It shows up here while it is played:</p>
      <p>
        <Command text="greenroom run --agent-strategy synthetic --num-trials 4" />
      </p>
    </EmptyState>
  );
}

function columnsOf(chosen: readonly string[], toggle: (run: string) => void): Column<RunItem>[] {
  return [
    {
      id: "choose",
      name: <span className="hidden-label">To be compared</span>,
      cell: (run) => (
        <input
          type="checkbox"
          aria-label={`Compare ${run.name}`}
          checked={chosen.includes(addressOf(run))}
          onChange={() => toggle(addressOf(run))}
        />
      ),
      wide: true,
    },
    {
      id: "name",
      name: "Name",
      cell: (run) => (
        <Link to="/runs/$run" params={{ run: addressOf(run) }}>
          {run.name}
        </Link>
      ),
    },
    {
      id: "agent",
      name: "Agent",
      cell: (run) => (
        <>
          <Link to="/trends" search={{ agent: run.agent, env: run.env }} title="Its runs over time">
            {run.agent}
          </Link>
          {run.model && <span className="quiet"> {run.model}</span>}
        </>
      ),
      wide: true,
    },
    { id: "env", name: "Domain", cell: (run) => `${run.env}, ${run.split}`, wide: true },
    { id: "pass", name: <Power text="pass^1" />, cell: (run) => percentWords(run.pass_1), number: true },
    { id: "episodes", name: "Episodes", cell: (run) => <Progress run={run} />, number: true },
    { id: "status", name: "Status", cell: (run) => <Status status={run.status} /> },
    { id: "created", name: "Begun", cell: (run) => dateWords(run.created_at), wide: true },
  ];
}
