import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ErrorNote } from "../../components/ErrorNote";
import { costWords } from "../../numbers";
import { refreshThread } from "../api";
import { isWorking, type Simulation, sendSimulated, simulate, simulationQuery, stopSimulation } from "./api";
import { BriefForm } from "./BriefForm";
import { type Brief, emptyBrief, requestOf } from "./brief";
import "./simulate.css";

interface SimulatePanelProps {
  thread: string;
  /** The thread's agent works on a task, which the user can have. */
  hasTask?: boolean;
  onClose: () => void;
}

/** The simulated user of a thread: who it is and what it wants, step by step or to the end. */
export function SimulatePanel({ thread, hasTask = false, onClose }: SimulatePanelProps) {
  const queries = useQueryClient();
  const name = useId();
  const [brief, setBrief] = useState<Brief>(() => emptyBrief(hasTask));
  const found = useQuery(simulationQuery(thread));
  const now = found.data;
  const act = useMutation({
    mutationFn: (what: () => Promise<Simulation>) => what(),
    onSuccess: (simulation) => {
      queries.setQueryData(simulationQuery(thread).queryKey, simulation);
      // An answer from before, which may be under way, does not take its place.
      void queries.invalidateQueries({ queryKey: simulationQuery(thread).queryKey });
      void refreshThread(queries, thread);
    },
  });
  const working = isWorking(now);
  return (
    <section className="simulate" aria-labelledby={name}>
      <header className="simulate-head">
        <h3 id={name}>Simulated user</h3>
        <StateWords simulation={now} />
        <button type="button" className="plain small" aria-label="Close the simulated user" onClick={onClose}>
          ×
        </button>
      </header>
      <BriefForm brief={brief} onChange={setBrief} hasTask={hasTask} disabled={working} />
      <div className="simulate-buttons">
        <button
          type="button"
          disabled={working || act.isPending}
          onClick={() => act.mutate(() => simulate(thread, requestOf(brief, 1)))}
        >
          Next message
        </button>
        <button
          type="button"
          disabled={working || act.isPending}
          onClick={() => act.mutate(() => simulate(thread, requestOf(brief, "end")))}
        >
          Talk to the end
        </button>
        {(working || now?.state === "ready") && (
          <button type="button" onClick={() => act.mutate(() => stopSimulation(thread))}>
            Stop the user
          </button>
        )}
      </div>
      {now?.state === "ready" && now.next != null && (
        <NextMessage
          key={now.next}
          text={now.next}
          disabled={act.isPending}
          onSend={(text) => act.mutate(() => sendSimulated(thread, text))}
        />
      )}
      {act.error && <ErrorNote error={act.error} />}
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {now?.error && <ErrorNote error={now.error} />}
    </section>
  );
}

const WORDS: Record<Simulation["state"] & string, string> = {
  idle: "",
  thinking: "thinks about its next message…",
  ready: "would say this:",
  talking: "is talking…",
  done: "has finished",
  stopped: "was stopped",
  broken: "could not go on",
};

function StateWords({ simulation }: { simulation: Simulation | undefined }) {
  if (!simulation) return null;
  const { turns = 0, stops = false, calls = 0, cost = null } = simulation;
  const parts = [WORDS[simulation.state ?? "idle"]];
  if (simulation.state === "done") parts.push(stops ? "and has nothing more to say" : "all of its turns");
  if (turns) parts.push(`· ${turns} ${turns === 1 ? "message" : "messages"} sent`);
  if (calls) parts.push(`· ${calls} model ${calls === 1 ? "call" : "calls"}`);
  if (cost) parts.push(`· ${costWords(cost)}`);
  return (
    <span className="quiet" role="status">
      {parts.filter(Boolean).join(" ")}
    </span>
  );
}

interface NextMessageProps {
  text: string;
  disabled: boolean;
  onSend: (text: string) => void;
}

/** What the user would say: it can be changed before it is sent. */
function NextMessage({ text, disabled, onSend }: NextMessageProps) {
  const [changed, setChanged] = useState(text);
  const name = useId();
  return (
    <form
      className="simulate-next"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(changed);
      }}
    >
      <label htmlFor={name}>The user would say</label>
      <textarea
        id={name}
        rows={3}
        value={changed}
        onChange={(event) => setChanged(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onSend(changed);
        }}
      />
      <button type="submit" className="primary" disabled={disabled || !changed.trim()}>
        Send it
      </button>
    </form>
  );
}
