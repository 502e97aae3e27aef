import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useEvents } from "../../api/events";
import { ErrorNote } from "../../components/ErrorNote";
import { Interval } from "../../components/Interval";
import { useOutcomes } from "../outcomes";
import { deleteTrials, stopTrials, type Trials, type TrialsItem, trialsQuery } from "./api";

interface TrialsResultProps {
  item: TrialsItem;
  open: boolean;
}

/** Trials from a place: in words, with the interval and each episode. */
export function TrialsResult({ item, open }: TrialsResultProps) {
  const queries = useQueryClient();
  const [shown, setShown] = useState(open);
  // Episodes that are deleted do not come back.
  const [asked, setAsked] = useState(false);
  const found = useQuery({ ...trialsQuery(item.run_id), enabled: shown });
  const act = useMutation({
    mutationFn: (what: () => Promise<unknown>) => what(),
    onSettled: () => queries.invalidateQueries({ queryKey: ["rewinds"] }),
  });
  useEvents((event) => {
    if (event.kind === "job" && event.id === item.run_id && shown) void found.refetch();
  });
  const trials = found.data;
  const running = trials?.status === "running";
  return (
    <details className="trials" open={open} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        Turn {item.point.turn}
        {item.point.steps > 0 && <span className="quiet"> after {item.point.steps} steps</span>} · {item.agent}
        {item.model && ` (${item.model})`} ·{" "}
        <span className="quiet">
          {trials?.outcome.trials ?? item.finished}/{trials?.outcome.planned ?? item.planned} played
        </span>
      </summary>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {trials && <Outcome trials={trials} />}
      {trials?.problem && <ErrorNote error={trials.problem} />}
      {act.error && <ErrorNote error={act.error} />}
      <div className="trials-buttons">
        {running ? (
          <button type="button" className="small" onClick={() => act.mutate(() => stopTrials(item.run_id))}>
            Stop
          </button>
        ) : asked ? (
          <>
            <button type="button" className="small" onClick={() => act.mutate(() => deleteTrials(item.run_id))}>
              Delete the episodes for good
            </button>
            <button type="button" className="small plain" onClick={() => setAsked(false)}>
              Keep them
            </button>
          </>
        ) : (
          <button type="button" className="small" onClick={() => setAsked(true)}>
            Delete
          </button>
        )}
        <Link to="/runs/$run" params={{ run: item.run_id }}>
          As a run
        </Link>
      </div>
    </details>
  );
}

function Outcome({ trials }: { trials: Trials }) {
  const words = useOutcomes();
  const { outcome } = trials;
  const value = outcome.trials ? outcome.solved / outcome.trials : null;
  const stored = words(outcome.stored.outcome);
  return (
    <div className="trials-outcome">
      <p data-testid="sentence">
        <b>{trials.sentence}</b>{" "}
        {trials.status === "running" && (
          <span className="quiet" role="status">
            {outcome.trials} of {outcome.planned} played…
          </span>
        )}
      </p>
      {value !== null && outcome.low != null && outcome.high != null && (
        <Interval value={value} low={outcome.low} high={outcome.high} />
      )}
      <p className="quiet">
        The stored trial: {stored.label}
        {outcome.stored.explanation && `. ${outcome.stored.explanation}`}
      </p>
      <ol className="trial-list" aria-label="Episodes from here">
        {outcome.each.map((one) => {
          const how = words(one.outcome);
          return (
            <li key={one.trial}>
              <Link
                className={`cell ${how.tone}`}
                to="/runs/$run/episodes/$task/$trial"
                params={{ run: outcome.run_id, task: String(outcome.point.task_index), trial: String(one.trial) }}
                preload={false}
                aria-label={`Trial ${one.trial}: ${how.label}`}
                title={one.explanation || how.label}
              >
                {how.symbol}
              </Link>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
