import { ErrorNote } from "../components/ErrorNote";
import { JsonView } from "../components/JsonView";
import { isObject } from "../json";
import type { TreatAs, Workflow } from "./api";

interface WorkflowCardProps {
  workflow: Workflow;
  busy: boolean;
  /** Opens a board; null: as the workflow says. */
  onOpen: (as: TreatAs | null) => void;
  onRefresh: () => void;
  onRemove: () => void;
}

/** A workflow: what it is, what decided that, what it takes. */
export function WorkflowCard({ workflow, busy, onOpen, onRefresh, onRemove }: WorkflowCardProps) {
  const own: TreatAs = workflow.is_chat ? "chat" : "completion";
  const other: TreatAs = workflow.is_chat ? "completion" : "chat";
  const known = workflow.error === null;
  // A file that cannot be loaded has nothing in it to talk to.
  const opens = known || workflow.kind !== "declared";
  return (
    <li className="workflow" data-workflow={workflow.address}>
      <div className="workflow-head">
        <h3>{workflow.name}</h3>
        {known && <span className={workflow.is_chat ? "badge good" : "badge"}>{own}</span>}
        <code className="quiet">{workflow.address}</code>
      </div>
      {workflow.description && <p className="workflow-words">{workflow.description}</p>}
      {workflow.error !== null && <ErrorNote error={workflow.error} onRetry={onRefresh} />}
      {known && (
        <dl className="facts">
          <div>
            <dt>{workflow.is_chat ? "A chat workflow" : "A completion workflow"}, decided by</dt>
            <dd>{workflow.decided_by ?? "nothing that it says; then it is treated as completion"}</dd>
          </div>
          <div>
            <dt>Inputs</dt>
            <dd>{namesIn(workflow.schemas.inputs) || "any: it does not say which it wants"}</dd>
          </div>
          <div>
            <dt>Parameters</dt>
            <dd>{namesIn(workflow.schemas.parameters) || Object.keys(workflow.parameters).join(", ") || "none"}</dd>
          </div>
          {workflow.interface && (
            <div>
              <dt>Called by</dt>
              <dd>{workflow.interface === "local" ? "this process" : workflow.interface}</dd>
            </div>
          )}
        </dl>
      )}
      <div className="workflow-buttons">
        {opens && (
          <>
            <button type="button" className="main" onClick={() => onOpen(null)} disabled={busy}>
              {own === "chat" ? "Chat" : "Run it"}
            </button>
            <button
              type="button"
              onClick={() => onOpen(other)}
              disabled={busy}
              title={`It says that it is a ${own} workflow; the board will show that you chose otherwise`}
            >
              Treat as {other}
            </button>
          </>
        )}
        <button type="button" className="plain" onClick={onRefresh}>
          Look again
        </button>
        {workflow.added && (
          <button type="button" className="plain" onClick={onRemove}>
            Remove
          </button>
        )}
        {known && (
          <details>
            <summary>Schemas</summary>
            <JsonView value={{ flags: workflow.flags, ...workflow.schemas, configuration: workflow.parameters }} />
          </details>
        )}
      </div>
    </li>
  );
}

function namesIn(schema: unknown): string {
  return isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties).join(", ") : "";
}
