import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useEvents } from "../api/events";
import { CopyButton } from "../components/CopyButton";
import { fixed } from "../numbers";
import type { RunItem } from "./queries";

/** Load what is shown of runs again when one of them changes, here or in a terminal. */
export function useRunEvents(run?: string): void {
  const queries = useQueryClient();
  useEvents((event) => {
    const concerns = event.kind === "job" && event.job === "run" && (!run || [event.id, event.name].includes(run));
    if (event.kind !== "reconnected" && !concerns) return;
    void queries.invalidateQueries({ queryKey: ["runs", "list"] });
    if (run) void queries.invalidateQueries({ queryKey: ["runs", "one", run] });
  });
}

/** Ask again when something else has changed; one question at a time. */
export function useAskAgain(state: string, query: { isFetching: boolean; refetch: () => unknown }): void {
  const asked = useRef(state);
  const { isFetching, refetch } = query;
  useEffect(() => {
    if (isFetching || asked.current === state) return;
    asked.current = state;
    void refetch();
  }, [state, isFetching, refetch]);
}

const STATUS = { complete: "complete", running: "running", interrupted: "interrupted" } as const;

/** How far a run is. */
export function Progress({ run }: { run: RunItem }) {
  const words = `${run.finished.toLocaleString("en")} of ${run.planned.toLocaleString("en")}`;
  return (
    <span className="progress" data-status={run.status}>
      {run.status !== "complete" && (
        <progress max={run.planned || 1} value={run.finished} aria-label={`${run.name}: ${words} episodes`} />
      )}
      <span className="progress-words">{run.status === "complete" ? run.planned.toLocaleString("en") : words}</span>
    </span>
  );
}

export function Status({ status }: { status: RunItem["status"] }) {
  const tone = { complete: "good", running: "limit", interrupted: "broken" }[status];
  return <span className={`badge ${tone}`}>{STATUS[status]}</span>;
}

/** A command for a terminal, with a button that copies it. */
export function Command({ text }: { text: string }) {
  return (
    <span className="command">
      <code>{text}</code> <CopyButton forms={[{ name: "Command", text: () => text }]} />
    </span>
  );
}

export function percentWords(share: number | null | undefined, digits = 1): string {
  return typeof share === "number" ? `${fixed(100 * share, digits)} %` : "–";
}
