import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { AddWorkflow } from "./AddWorkflow";
import {
  createBoard,
  inspectWorkflow,
  removeWorkflow,
  restoreWorkflow,
  type TreatAs,
  type Workflow,
  workflowsQuery,
} from "./api";
import { WorkflowCard } from "./WorkflowCard";
import "./workflows.css";

const KINDS = { declared: "Declared here", url: "Served by URL", agent: "Agents of the benchmark" } as const;

/** What can be talked to, what each is, and what decided it. */
export function WorkflowsPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const list = useQuery(workflowsQuery);
  const [removed, setRemoved] = useState<string | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ["workflows"] });
  const open = useMutation({
    mutationFn: ({ workflow, as }: { workflow: Workflow; as: TreatAs | null }) =>
      createBoard({ title: workflow.name, treat_as: as, threads: [{ address: workflow.address }] }),
    onSuccess: (board) => navigate({ to: "/boards/$board", params: { board: board.id } }),
  });
  const change = useMutation({ mutationFn: (act: () => Promise<unknown>) => act(), onSettled: refresh });
  const items = list.data?.items ?? [];
  return (
    <Page title="Workflows" narrow>
      <AddWorkflow onAdded={refresh} />
      {removed && (
        <div className="undo-note" role="status">
          {removed} was removed.
          <button
            type="button"
            className="small"
            onClick={() => {
              change.mutate(() => restoreWorkflow(removed));
              setRemoved(null);
            }}
          >
            Undo
          </button>
        </div>
      )}
      {list.isPending && <Loading what="the workflows" />}
      {list.error && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {(open.error ?? change.error) && <ErrorNote error={open.error ?? change.error} />}
      {list.data && !items.length && (
        <EmptyState title="There are no workflows yet.">
          <p>
            Add the URL of one above, or start with a file that declares some: <code>greenroom playground app.py</code>
          </p>
        </EmptyState>
      )}
      {Object.entries(KINDS).map(([kind, words]) => {
        const some = items.filter((one) => one.kind === kind);
        return (
          some.length > 0 && (
            <section key={kind} className="workflow-kind">
              <h2>{words}</h2>
              <ul>
                {some.map((workflow) => (
                  <WorkflowCard
                    key={workflow.address}
                    workflow={workflow}
                    busy={open.isPending}
                    onOpen={(as) => open.mutate({ workflow, as })}
                    onRefresh={() => change.mutate(() => inspectWorkflow(workflow.address))}
                    onRemove={() =>
                      change.mutate(() => removeWorkflow(workflow.address).then(() => setRemoved(workflow.address)))
                    }
                  />
                ))}
              </ul>
            </section>
          )
        );
      })}
    </Page>
  );
}
