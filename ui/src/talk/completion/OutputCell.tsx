import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useState } from "react";
import { CopyButton } from "../../components/CopyButton";
import { Dialog } from "../../components/Dialog";
import { ErrorNote } from "../../components/ErrorNote";
import { JsonView } from "../../components/JsonView";
import { LongText } from "../../components/LongText";
import { Output } from "../../components/Output";
import { pretty, sizeWords } from "../../json";
import { NoteButton } from "../../notes/NoteButton";
import { AddToTestSet } from "../../testsets/AddToTestSet";
import { type ThreadHead, type Turn, turnQuery } from "../api";
import { figuresOf } from "../figures";

interface OutputCellProps {
  head: ThreadHead | undefined;
  raw: boolean;
  onRun: (head: ThreadHead) => void;
  onStop: (turn: string) => void;
}

/** What a variant made of a row: the output, what it took, and what can be done with it. */
export const OutputCell = memo(function OutputCell({ head, raw, onRun, onStop }: OutputCellProps) {
  const [open, setOpen] = useState(false);
  if (!head) return <span className="quiet">no thread</span>;
  const turn = head.last;
  const ran = turn !== null && turn.status !== "draft";
  return (
    <div className="output-cell" data-status={turn?.status ?? "none"}>
      {!ran && <p className="quiet">not run yet</p>}
      {ran && (
        <div className="output-part">
          <Result turn={turn} raw={raw} />
        </div>
      )}
      <div className="output-foot">
        <Status turn={turn} />
        {turn?.status === "running" ? (
          <button type="button" className="small" onClick={() => onStop(turn.id)}>
            Stop
          </button>
        ) : (
          <button type="button" className="small" onClick={() => onRun(head)}>
            {ran ? "Run again" : "Run"}
          </button>
        )}
        {ran && turn.status !== "running" && (
          <button type="button" className="small plain" onClick={() => setOpen(true)}>
            Open
          </button>
        )}
        {turn && ["done", "stopped"].includes(turn.status) && (
          <AddToTestSet source={{ kind: "turn", thread_id: head.id, turn_id: turn.id }} />
        )}
        {ran && <NoteButton subject={{ thread: head.id, turn: turn.id }} />}
        {head.turn_count > 1 && (
          <Link
            className="quiet"
            to="/boards/$board"
            params={{ board: head.board_id }}
            search={{ thread: head.id, as: "chat" }}
          >
            {head.turn_count} turns
          </Link>
        )}
      </div>
      {open && turn && <WholeOutput turn={turn} onClose={() => setOpen(false)} />}
    </div>
  );
});

function Result({ turn, raw }: { turn: Turn; raw: boolean }) {
  if (turn.status === "broken") {
    return (
      <>
        <ErrorNote error={new Error(turn.error ?? "It broke, and nothing says why. Run it again.")} />
        {turn.text && <LongText text={turn.text} />}
      </>
    );
  }
  if (turn.status === "running" || turn.status === "stopped") {
    return <LongText text={turn.text} running={turn.status === "running"} />;
  }
  if (turn.truncated) {
    return (
      <p className="quiet">
        {turn.text.slice(0, 400)} {sizeWords(turn.size)}: open it to see all of it.
      </p>
    );
  }
  if (raw) return <JsonView value={turn.outputs} />;
  // A conversation that was loaded has replies, and no output of a call.
  return <Output value={turn.sent && !turn.edited ? turn.outputs : turn.replies} />;
}

function Status({ turn }: { turn: Turn | null }) {
  if (!turn || turn.status === "draft") return null;
  const badge = BADGES[turn.status];
  return (
    <span className="quiet">
      {badge && <span className={`badge ${badge.look}`}>{badge.words}</span>} {figuresOf(turn).join(" · ")}
      {turn.edited && " · edited"}
    </span>
  );
}

const BADGES: Partial<Record<Turn["status"], { words: string; look: string }>> = {
  running: { words: "running", look: "" },
  broken: { words: "failed", look: "broken" },
  stopped: { words: "stopped", look: "limit" },
};

function WholeOutput({ turn, onClose }: { turn: Turn; onClose: () => void }) {
  const [raw, setRaw] = useState(false);
  const whole = useQuery({ ...turnQuery(turn.id), enabled: turn.truncated });
  const shown = turn.truncated ? whole.data : turn;
  return (
    <Dialog title="Output" open onClose={onClose} wide>
      {whole.error && <ErrorNote error={whole.error} onRetry={() => whole.refetch()} />}
      {shown && (
        <>
          <div className="tools">
            <button type="button" className="small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
              Raw
            </button>
            <CopyButton forms={[{ name: "JSON", text: () => pretty(shown.outputs) }]} label="Copy as JSON" />
            <span>{figuresOf(shown).join(" · ")}</span>
          </div>
          <Result turn={{ ...shown, truncated: false }} raw={raw} />
        </>
      )}
    </Dialog>
  );
}
