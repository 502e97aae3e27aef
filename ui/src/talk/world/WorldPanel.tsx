import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { ErrorNote } from "../../components/ErrorNote";
import { Loading } from "../../components/Loading";
import { useThreadActions } from "../actions";
import { type ThreadHead, threadQuery } from "../api";
import { AgentForm } from "./AgentForm";
import { type ThreadWorld, worldQuery } from "./api";
import { RecordChanges } from "./RecordChanges";
import "../simulate/simulate.css";

/** The database beside a thread: what each turn changed, and how the task stands. */
export function WorldPanel({ head, onClose }: { head: ThreadHead; onClose: () => void }) {
  const name = useId();
  const actions = useThreadActions(head);
  const thread = useQuery(threadQuery(head.id)).data;
  const turns = thread?.turns ?? [];
  // A turn that ends changes the world, and so does an edit.
  const state = turns.map((turn) => `${turn.id}:${turn.status}`).join(" ");
  const found = useQuery(worldQuery(head.id, `${thread?.version ?? 0} ${state}`));
  const world = found.data;
  const before = thread ? thread.turn_count - turns.length : 0;
  const running = turns.some((turn) => turn.status === "running");
  return (
    <section className="world" aria-labelledby={name}>
      <header className="simulate-head">
        <h3 id={name}>World</h3>
        {world && (
          <span className="quiet">
            {world.env}, task {world.task}
          </span>
        )}
        <button type="button" className="plain small" aria-label="Close the world" onClick={onClose}>
          ×
        </button>
      </header>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the world" />}
      {world && (
        <>
          <Standing world={world} />
          <Changes world={world} numbers={new Map(turns.map((turn, place) => [turn.id, before + place + 1]))} />
          {!world.over && (
            <div className="world-acts">
              <button
                type="button"
                disabled={running || actions.busy || !turns.length}
                onClick={() => void actions.send({}).catch(() => undefined)}
              >
                Let the agent go on
              </button>
              <AgentForm head={thread ?? head} tools={world.tools} />
            </div>
          )}
        </>
      )}
      {actions.error && <ErrorNote error={actions.error} />}
    </section>
  );
}

function Standing({ world }: { world: ThreadWorld }) {
  const scored = world.scored ?? null;
  if (!scored) {
    return (
      <details className="quiet">
        <summary>What the user of the task wants</summary>
        <p>{world.instruction}</p>
      </details>
    );
  }
  const unsaid = Object.entries(scored.outputs).filter(([, said]) => !said);
  return (
    <div data-testid="scored">
      <p>
        <span className={scored.reward === 1 ? "badge good" : "badge bad"}>
          {scored.reward === 1 ? "solved" : "not solved"}
        </span>{" "}
        The conversation is over.{" "}
        {scored.database ? "The database is as it should be." : "The database is not as it should be."}
      </p>
      {unsaid.length > 0 && <p>Never said: {unsaid.map(([text]) => text).join(", ")}</p>}
      {scored.missing.length > 0 && <RecordChanges records={scored.missing} before="Expected" after="Is" />}
    </div>
  );
}

function Changes({ world, numbers }: { world: ThreadWorld; numbers: ReadonlyMap<string, number> }) {
  const changed = world.turns.filter((turn) => turn.records.length > 0);
  if (!changed.length) return <p className="quiet">Nothing has changed in the database yet.</p>;
  return (
    <div data-testid="changes">
      {changed.map((turn) => (
        <section key={turn.turn_id} className="turn-changes">
          <h4>
            {numbers.has(turn.turn_id) ? `Turn ${numbers.get(turn.turn_id)}` : "An earlier turn"}{" "}
            <span className="quiet">
              {turn.records.length} {turn.records.length === 1 ? "record" : "records"}
            </span>
          </h4>
          <RecordChanges records={turn.records} />
        </section>
      ))}
      {world.truncated && <p className="quiet">More records changed than are listed here.</p>}
    </div>
  );
}
