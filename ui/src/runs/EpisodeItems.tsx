import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { JsonView } from "../components/JsonView";
import { LongText } from "../components/LongText";
import { ToolCard, Values } from "../components/ToolCard";
import { NoteButton } from "../notes/NoteButton";
import { type Difference, Differs } from "./Differs";
import { type ShownItem, type Truth, wholeStep } from "./queries";

const STOP = /###(?:STOP|TRANSFER|OUT-OF-SCOPE)###/g;

interface EpisodePlace {
  run: string;
  task: number;
  trial: number;
}

/** Something that was said, or a call of a tool. */
export function EpisodeItem({ item, place }: { item: ShownItem; place: EpisodePlace }) {
  return (
    <div className="episode-item" data-step={item.step ?? undefined}>
      {item.kind === "call" ? <Call item={item} /> : <Said item={item} />}
      {typeof item.step === "number" && item.who !== "user" && (
        <div className={item.kind === "call" ? "step-actions" : "step-actions ours"}>
          <NoteButton subject={{ ...place, step: item.step }} />
        </div>
      )}
      {(item.left_out ?? 0) > 0 && item.step !== null && <Whole item={item} step={item.step} place={place} />}
    </div>
  );
}

function Said({ item }: { item: ShownItem }) {
  const ours = item.who === "agent";
  const text = ours ? item.text : item.text.replaceAll(STOP, "").trim();
  const ended = !ours && text !== item.text.trim();
  return (
    <div className={`bubble ${ours ? "ours" : "theirs"}`}>
      <span className="who">{ours ? "Agent" : "User"}</span>
      {text && <LongText text={text} />}
      {ended && <em className="quiet">ends the conversation</em>}
      {item.problem && <p className="flag">{item.problem}</p>}
    </div>
  );
}

function Call({ item }: { item: ShownItem }) {
  const wrong = !!item.problem || item.refused === true;
  const byUser = item.who === "user";
  return (
    <ToolCard
      call={{
        id: byUser ? `user-${item.step}-${item.tool}` : `step-${item.step}`,
        name: item.tool ?? "",
        input: item.arguments,
        answer: { index: 0, content: item.text, isError: wrong },
      }}
      badges={
        <>
          {byUser && <span className="badge">by the user</span>}
          {item.writes && <span className="badge">changes the database</span>}
          {item.refused && !item.problem && <span className="badge bad">refused</span>}
          {item.problem && <span className="badge bad">not valid</span>}
          {item.extra && <span className="badge bad">not asked for</span>}
        </>
      }
    />
  );
}

/** A text that is too long for the page comes when it is asked for. */
function Whole({ item, step, place }: { item: ShownItem; step: number; place: EpisodePlace }) {
  const [wanted, setWanted] = useState(false);
  const found = useQuery({
    queryKey: ["runs", "step", place, step],
    queryFn: () => wholeStep(place.run, place.task, place.trial, step),
    enabled: wanted,
  });
  return (
    <div className="cut-text">
      <span className="quiet">{(item.left_out ?? 0).toLocaleString("en")} characters are left out.</span>
      {!found.data && (
        <button type="button" className="small" disabled={found.isFetching} onClick={() => setWanted(true)}>
          Show the whole step
        </button>
      )}
      {found.error && <ErrorNote error={found.error} />}
      {found.data !== undefined && <JsonView value={found.data} />}
    </div>
  );
}

/** An action of the ground truth, beside the step that stands for it. */
export function TruthCard({ truth }: { truth: Truth }) {
  const good = truth.relation === "same" && truth.refusal === null;
  const tone = good ? "yes" : truth.writes ? "no" : "maybe";
  return (
    <details className={`truth ${tone}`} open={!good && truth.writes}>
      <summary>
        <span className="sign" aria-hidden="true">
          {good ? "✓" : truth.writes ? "×" : "·"}
        </span>
        <code className="tool">{truth.tool}</code>{" "}
        {truth.party === "user" && <span className="badge">by the user</span>}{" "}
        <span className="quiet">{truth.words}</span>
      </summary>
      {truth.differs.length ? (
        <Differs head={["Argument", "Expected", "Done"]} rows={truth.differs.map(differing)} />
      ) : (
        <Values value={truth.arguments} />
      )}
      {truth.refusal && <p className="flag">{truth.refusal}</p>}
    </details>
  );
}

/** A value in a table; null stands for a side that has none. */
export function Brief({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className="quiet">none</span>;
  if (typeof value === "object") return <JsonView value={value} depth={1} />;
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>;
}

/** An argument that differs, as a row. */
export function differing(one: { name: string; expected: unknown; actual: unknown }): Difference {
  return { name: one.name, left: <Brief value={one.expected} />, right: <Brief value={one.actual} /> };
}
