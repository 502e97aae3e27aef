import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { failure } from "../../api/client";
import { ErrorNote } from "../../components/ErrorNote";
import { type RewindPlace, rewind, rewindsQuery, type Start, startTrials, type TrialsWanted } from "./api";
import { TrialsResult } from "./TrialsResult";
import "./rewind.css";

export interface StepChoice {
  /** From 1. */
  step: number;
  name: string;
}

interface RewindPanelProps {
  place: RewindPlace;
  turn: number;
  steps: readonly StepChoice[];
}

const MOST_TRIALS = 1000;

/** Where to go on, who goes on, and what came of it before. */
export function RewindPanel({ place, turn, steps }: RewindPanelProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const name = useId();
  const [step, setStep] = useState("");
  const [trials, setTrials] = useState("10");
  const [agent, setAgent] = useState("");
  const [model, setModel] = useState("");
  const [again, setAgain] = useState(false);
  const start: Start = step ? { step: Number(step) } : { turn };
  const talk = useMutation({
    mutationFn: () => rewind(place, start),
    onSuccess: (found) =>
      navigate({ to: "/boards/$board", params: { board: found.board_id }, search: { thread: found.thread_id } }),
  });
  const many = useMutation({
    mutationFn: () => {
      const wanted: TrialsWanted = { trials: Number(trials), again };
      if (agent.trim()) wanted.agent_strategy = agent.trim();
      if (model.trim()) wanted.model = model.trim();
      return startTrials(place, start, wanted);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: rewindsQuery(place).queryKey }),
  });
  const count = Number(trials);
  const valid = Number.isInteger(count) && count >= 1 && count <= MOST_TRIALS;
  return (
    <div className="rewind">
      <div className="field">
        <label htmlFor={`${name}-place`}>From</label>
        <select id={`${name}-place`} value={step} onChange={(event) => setStep(event.target.value)}>
          <option value="">the beginning of turn {turn}</option>
          {steps.map((one) => (
            <option key={one.step} value={one.step}>
              before step {one.step}: {one.name}
            </option>
          ))}
        </select>
      </div>
      <section>
        <h3>By hand, or by the agent</h3>
        <p className="quiet">
          A conversation that stands here, with its world restored. Write as the user, act as the agent, or let the
          agent go on.
        </p>
        <button type="button" onClick={() => talk.mutate()} disabled={talk.isPending}>
          Open as a conversation
        </button>
        {talk.error && <ErrorNote error={talk.error} />}
      </section>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (valid) many.mutate();
        }}
      >
        <h3>Several times</h3>
        <p className="quiet">The agent of the run goes on from here, each time with another seed.</p>
        <div className="rewind-fields">
          <div className="field">
            <label htmlFor={`${name}-trials`}>Times</label>
            <input
              id={`${name}-trials`}
              type="number"
              min={1}
              max={MOST_TRIALS}
              value={trials}
              onChange={(event) => setTrials(event.target.value)}
            />
          </div>
          <div className="field">
            <label htmlFor={`${name}-agent`}>Another agent</label>
            <input id={`${name}-agent`} value={agent} onChange={(event) => setAgent(event.target.value)} />
          </div>
          <div className="field">
            <label htmlFor={`${name}-model`}>Another model</label>
            <input id={`${name}-model`} value={model} onChange={(event) => setModel(event.target.value)} />
          </div>
          <label className="field-check">
            <input type="checkbox" checked={again} onChange={(event) => setAgain(event.target.checked)} />
            Begin anew beside earlier trials
          </label>
        </div>
        <button type="submit" disabled={!valid || many.isPending}>
          Play it {valid ? count : ""} {count === 1 ? "time" : "times"} from here
        </button>
        {many.error && <ErrorNote error={many.error} />}
      </form>
      <Earlier place={place} />
    </div>
  );
}

/** What was played from the turns of this episode so far, the newest first. */
function Earlier({ place }: { place: RewindPlace }) {
  const found = useQuery(rewindsQuery(place));
  if (failure(found)) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  const items = found.data?.items ?? [];
  if (!items.length) return null;
  return (
    <section aria-label="Trials from this episode">
      <h3>Played from this episode</h3>
      {items.map((one, number) => (
        <TrialsResult key={one.run_id} item={one} open={number === 0} />
      ))}
    </section>
  );
}
