import { useQueryClient } from "@tanstack/react-query";
import { useEvents } from "../api/events";
import { briefly, isObject } from "../json";
import { messagesIn, textOf } from "../messages";
import { fixed } from "../numbers";
import { OutcomeMark } from "../runs/outcomes";
import type { ComparedRow, EvaluationItem, ResultItem, ShownScore } from "./queries";

/** Load what is shown of evaluations again when one of them changes, here or in a terminal. */
export function useEvaluationEvents(name?: string): void {
  const queries = useQueryClient();
  useEvents((event) => {
    const job = event.kind === "job" && event.job === "evaluation";
    const concerns = job && (!name || [event.id, event.name].includes(name));
    if (event.kind !== "reconnected" && !concerns) return;
    void queries.invalidateQueries({ queryKey: ["evaluations", "list"] });
    if (name) void queries.invalidateQueries({ queryKey: ["evaluations", "one", name] });
  });
}

/** How far an evaluation is. */
export function Progress({ one }: { one: EvaluationItem }) {
  const words = `${one.finished.toLocaleString("en")} of ${one.planned.toLocaleString("en")}`;
  return (
    <span className="progress" data-status={one.status}>
      {one.status !== "complete" && (
        <progress max={one.planned || 1} value={one.finished} aria-label={`${one.name}: ${words} calls`} />
      )}
      <span className="progress-words">{one.status === "complete" ? one.planned.toLocaleString("en") : words}</span>
    </span>
  );
}

/** A workflow's address, as short as it can be told apart: the file's name, or the whole URL. */
export function workflowWords(address: string): string {
  return address.includes("://") ? address : address.replace(/^.*[\\/]/, "");
}

export function Outcome({ one }: { one: ResultItem["outcome"] }) {
  return (
    <span className="nowrap" title={one.meaning}>
      <OutcomeMark outcome={one} /> <span className="outcome-words">{one.label}</span>
    </span>
  );
}

/** A score as a number, marked if it did not pass. */
export function Score({ score }: { score: ShownScore | undefined }) {
  if (!score) return <span className="quiet">–</span>;
  const tone = score.passed === null ? "" : score.passed ? "yes" : "no";
  const words = score.score === null ? (score.broken ? "broke" : "none") : fixed(score.score, 2);
  const verdict = score.passed === null ? "" : score.passed ? ", passed" : ", not passed";
  return (
    <span className={`score ${tone}`} title={score.reason || undefined}>
      {words}
      <span className="hidden-label">{verdict}</span>
    </span>
  );
}

/** What came out, or went in, as one line: the text of the last message, or JSON. */
export function lineOf(value: unknown, longest = 300): string {
  const messages = messagesIn(value);
  const last = messages?.at(-1);
  if (last) return briefly(textOf(last) || last, longest);
  if (isObject(value) && Object.keys(value).length === 1) return briefly(Object.values(value)[0], longest);
  return value === null || value === undefined ? "" : briefly(value, longest);
}

/** What changed in a row: verdicts as shares of its repeats, and scores whose verdict stayed as mean scores. */
export function changeWords({ evaluators, scores }: Pick<ComparedRow, "evaluators" | "scores">): string {
  const flipped = new Set(evaluators.map((one) => one.alias));
  const points = (score: number | null, digits: number) => (score === null ? "none" : fixed(score, digits));
  const verdicts = evaluators.map((one) => `${one.alias}: ${one.before} → ${one.now}`);
  const means = scores
    .filter((one) => !flipped.has(one.alias))
    .map(({ alias, before, now }) => {
      // Scores that differ look different.
      const digits = [2, 3, 4, 6].find((some) => points(before, some) !== points(now, some)) ?? 9;
      return `${alias}: score ${points(before, digits)} → ${points(now, digits)}`;
    });
  return [...verdicts, ...means].join("; ");
}
