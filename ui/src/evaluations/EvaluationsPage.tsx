import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { SearchField } from "../components/SearchField";
import { fixed } from "../numbers";
import { Command, Status } from "../runs/parts";
import { dateWords } from "../time";
import { Progress, useEvaluationEvents, workflowWords } from "./parts";
import { type EvaluationItem, evaluationsQuery } from "./queries";
import "../runs/runs.css";
import "./evaluations.css";

const route = getRouteApi("/evaluations");

/** All evaluations, those that a terminal works on too. */
export function EvaluationsPage() {
  const { q = "", test_set } = route.useSearch();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const found = useInfiniteQuery(evaluationsQuery(q, test_set));
  useEvaluationEvents();
  const evaluations = found.data?.pages.flatMap((page) => page.items) ?? [];
  const search = useCallback(
    (text: string) =>
      void navigate({
        to: "/evaluations",
        search: { ...(text ? { q: text } : {}), ...(test_set ? { test_set } : {}) },
        replace: true,
      }),
    [navigate, test_set],
  );
  const toggle = useCallback(
    (key: string) =>
      setChosen((now) => (now.includes(key) ? now.filter((one) => one !== key) : [...now, key].slice(-2))),
    [],
  );
  const columns = useMemo(() => columnsOf(chosen, toggle), [chosen, toggle]);
  const [a, b] = chosen;
  const compare = a && b ? { a, b } : {};
  return (
    <Page
      title="Evaluations"
      actions={
        <>
          <Link className="button" to="/evaluations/compare" search={compare}>
            {b ? "Compare the two" : "Compare"}
          </Link>
          <Link className="button main" to="/evaluations/new">
            New evaluation
          </Link>
        </>
      }
    >
      <div className="tools">
        <SearchField value={q} label="Find by name, workflow or test set" onChange={search} />
        {test_set && (
          <span>
            Only those of the test set <b>{test_set}</b>.{" "}
            <Link to="/evaluations" search={q ? { q } : {}}>
              Show all
            </Link>
          </span>
        )}
      </div>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the evaluations" />}
      {found.data && !evaluations.length && <NoEvaluations filtered={Boolean(q || test_set)} />}
      {evaluations.length > 0 && (
        <div className="list-frame">
          <DataTable
            label="Evaluations"
            columns={columns}
            rows={evaluations}
            keyOf={(one) => one.id}
            onOpen={(one) => void navigate({ to: "/evaluations/$name", params: { name: one.key } })}
            onEnd={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()}
          />
        </div>
      )}
    </Page>
  );
}

function NoEvaluations({ filtered }: { filtered: boolean }) {
  if (filtered) return <EmptyState title="No evaluation is like that.">Look for something else.</EmptyState>;
  return (
    <EmptyState title="There are no evaluations yet.">
      <p>An evaluation gives every row of a test set to a workflow and scores what comes back.</p>
      <p>
        <Link to="/evaluations/new">Start one here</Link>, or in a terminal:
      </p>
      <p>
        <Command text="greenroom eval app.py:guide cities.csv -e exact_match" />
      </p>
    </EmptyState>
  );
}

function columnsOf(chosen: readonly string[], toggle: (key: string) => void): Column<EvaluationItem>[] {
  return [
    {
      id: "choose",
      name: <span className="hidden-label">To be compared</span>,
      cell: (one) => (
        <input
          type="checkbox"
          aria-label={`Compare ${one.name}`}
          checked={chosen.includes(one.key)}
          onChange={() => toggle(one.key)}
        />
      ),
      wide: true,
    },
    {
      id: "name",
      name: "Name",
      cell: (one) => (
        <Link to="/evaluations/$name" params={{ name: one.key }}>
          {one.name}
        </Link>
      ),
    },
    {
      id: "workflow",
      name: "Workflow",
      cell: (one) => <span title={one.workflow}>{workflowWords(one.workflow)}</span>,
      wide: true,
    },
    {
      id: "test-set",
      name: "Test set",
      cell: (one) => (
        <Link to="/test-sets/$name" params={{ name: one.test_set }} search={{ version: one.version }}>
          {one.test_set}@{one.version}
        </Link>
      ),
      wide: true,
    },
    { id: "evaluators", name: "Evaluators", cell: (one) => one.evaluators.join(", "), wide: true },
    { id: "mean", name: "Score", cell: (one) => (one.mean === null ? "–" : fixed(one.mean, 3)), number: true },
    { id: "calls", name: "Calls", cell: (one) => <Progress one={one} />, number: true },
    { id: "status", name: "Status", cell: (one) => <Status status={one.status} /> },
    { id: "created", name: "Begun", cell: (one) => dateWords(one.created_at), wide: true },
  ];
}
