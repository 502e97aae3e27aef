import { useQuery } from "@tanstack/react-query";
import { memo, type ReactNode, useState } from "react";
import { CopyButton } from "../components/CopyButton";
import { ErrorNote } from "../components/ErrorNote";
import { JsonView } from "../components/JsonView";
import { Message } from "../components/Message";
import { Output } from "../components/Output";
import { ToolCard, Values } from "../components/ToolCard";
import { sameJson, sizeWords } from "../json";
import { type ChatMessage, messagesIn, type ShownCall, shownMessages, textOf } from "../messages";
import { NoteButton } from "../notes/NoteButton";
import { AddToTestSet } from "../testsets/AddToTestSet";
import type { ThreadActions } from "./actions";
import { type Turn, turnQuery } from "./api";
import { copyForms } from "./copies";
import { hasDraft } from "./drafts";
import { figuresOf } from "./figures";
import { LiveTurn } from "./LiveTurn";
import { MessageEditor } from "./MessageEditor";
import { ToolAnswerField } from "./ToolAnswerField";

interface TurnViewProps {
  thread: string;
  turn: Turn;
  /** The turns of the thread as far as they are loaded; this one among them. */
  turns: readonly Turn[];
  actions: ThreadActions;
  /** The turn is the last of its thread. */
  last: boolean;
  /** How the workflow is called, for what is copied. */
  wire: string | null;
  number: number;
}

/** A turn: what was said, what was answered, what it took, and what can be done with it. */
export const TurnView = memo(function TurnView(props: TurnViewProps) {
  const { turn: listed, turns, actions, last, number } = props;
  const [raw, setRaw] = useState(false);
  const [wanted, setWanted] = useState(false);
  const whole = useQuery({ ...turnQuery(listed.id), enabled: wanted && listed.truncated });
  const turn = (listed.truncated && whole.data) || listed;
  const place = turns.findIndex((one) => one.id === turn.id);
  const before = turns[place - 1] ?? null;
  // The first turn that is loaded may follow one that is not.
  const canRerun = turn.status !== "running" && (before !== null || number === 1);
  const complete = number === place + 1;
  return (
    <article className={`turn-view ${turn.status}`} aria-label={`Turn ${number}`} tabIndex={-1} data-turn={turn.id}>
      <div className={raw ? "turn-body with-raw" : "turn-body"}>
        <div className="messages">
          <Said turn={turn} before={before} actions={actions} />
          {turn.status === "running" ? (
            <LiveTurn turn={turn} thread={props.thread} />
          ) : (
            <Answered {...props} turn={turn} />
          )}
        </div>
        {raw && (
          <div className="raw">
            <JsonView value={rawOf(turn)} />
          </div>
        )}
      </div>
      {listed.truncated && !whole.data && (
        <div className="cut-text">
          <span className="quiet">This turn has {sizeWords(listed.size)}; its beginning is shown.</span>
          <button type="button" className="small" onClick={() => setWanted(true)} disabled={whole.isFetching}>
            Load all of it
          </button>
        </div>
      )}
      {whole.error && <ErrorNote error={whole.error} onRetry={() => whole.refetch()} />}
      <footer className="turn-foot">
        <span className="quiet">{figuresOf(turn, turns).join(" · ")}</span>
        {turn.edited && <span className="badge">edited</span>}
        {turn.status === "stopped" && <span className="badge limit">stopped</span>}
        {turn.status === "running" ? (
          <button type="button" className="small" onClick={() => actions.stop(turn.id)}>
            Stop
          </button>
        ) : (
          <span className="turn-actions">
            {canRerun && turn.status !== "draft" && (
              <button
                type="button"
                className="small plain"
                title={last ? "Ask the same again" : "Ask the same again from here; what follows stays in the history"}
                onClick={() => actions.rerun(turn, before)}
                disabled={actions.busy}
              >
                {turn.status === "broken" ? "Run again" : "Regenerate"}
              </button>
            )}
            <button type="button" className="small plain" onClick={() => actions.branch(turn)}>
              Branch
            </button>
            <button type="button" className="small plain" aria-pressed={raw} onClick={() => setRaw(!raw)}>
              Raw
            </button>
            <CopyButton forms={copyForms(turn, turns, complete ? props.wire : null)} />
            <AddToTestSet source={{ kind: "turn", thread_id: props.thread, turn_id: turn.id }} />
            <NoteButton subject={{ thread: props.thread, turn: turn.id }} />
          </span>
        )}
      </footer>
    </article>
  );
});

function rawOf(turn: Turn): unknown {
  const { said, inputs, outputs, tool_calls, trace_id, session_id, parameters } = turn;
  return { said, inputs, parameters, outputs, tool_calls, trace_id, session_id };
}

interface SaidProps {
  turn: Turn;
  before: Turn | null;
  actions: ThreadActions;
}

function Said({ turn, before, actions }: SaidProps) {
  const given = turn.inputs && Object.keys(turn.inputs).length > 0 && !sameJson(turn.inputs, before?.inputs);
  return (
    <>
      {given && (
        <div className="bubble theirs">
          <div className="who">Inputs</div>
          <Values value={turn.inputs} />
        </div>
      )}
      {shownMessages(turn.said).map(({ index, message, calls }) => (
        <Editable
          key={index}
          turn={turn}
          side="said"
          index={index}
          message={message}
          calls={calls}
          actions={actions}
          resultActions={(call) => <ResultActions turn={turn} side="said" call={call} actions={actions} />}
        />
      ))}
    </>
  );
}

function Answered({ turn, actions, turns, last }: TurnViewProps) {
  const drafts = turns.filter((one) => one.status === "draft");
  const first = drafts[0]?.id === turn.id;
  const told = toldCalls(turn);
  const field = (call: ShownCall): ReactNode =>
    last &&
    turn.status === "done" && (
      <ToolAnswerField
        turn={turn.id}
        call={call}
        replies={turn.replies}
        told={told.filter((one) => !one.answer)}
        onSend={(messages) => actions.send({ messages })}
      />
    );
  return (
    <>
      {told.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: Calls come in order and stay.
        <ToolCard key={index} call={call}>
          {!call.answer && field(call)}
        </ToolCard>
      ))}
      {turn.replies.length
        ? shownMessages(turn.replies).map(({ index, message, calls }) => (
            <Editable
              key={index}
              turn={turn}
              side="answer"
              index={index}
              message={message}
              calls={calls}
              actions={actions}
              answerField={field}
              resultActions={(call) => <ResultActions turn={turn} side="answer" call={call} actions={actions} />}
            />
          ))
        : showsOutputs(turn) && (
            <div className="bubble ours">
              <div className="who">Output</div>
              <Output value={turn.outputs} />
            </div>
          )}
      {!turn.replies.length && turn.text && turn.status !== "done" && (
        <Message message={{ role: "assistant", content: turn.text }} />
      )}
      {turn.status === "broken" && (
        <ErrorNote error={turn.error ?? "This turn broke off before its answer was complete. Run it again."} />
      )}
      {turn.status === "draft" && isEnd(turn) && (
        <div className="draft-note">
          <span className="badge">the user ended the conversation</span>
        </div>
      )}
      {turn.status === "draft" && !isEnd(turn) && (
        <div className="draft-note">
          <span className="badge limit">not sent yet</span>
          {first && (
            <button type="button" className="main small" onClick={() => actions.runDrafts(1)} disabled={actions.busy}>
              Run
            </button>
          )}
          {first && drafts.length > 1 && (
            <button
              type="button"
              className="small"
              onClick={() => actions.runDrafts(drafts.length)}
              disabled={actions.busy}
            >
              Run all {drafts.length}
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** The calls of a turn that were told as events; their messages, if any, show no result of them. */
function toldCalls(turn: Turn): ShownCall[] {
  return turn.tool_calls.map((call) => ({
    id: call.id ?? null,
    name: call.name ?? "(no name)",
    input: call.input,
    answer: call.has_output ? { index: null, content: call.output, isError: call.is_error ?? false } : null,
  }));
}

/** Whether a simulated user stopped here: nobody answers last words. */
function isEnd(turn: Turn): boolean {
  return turn.said.some((message) => textOf(message).includes("###STOP###"));
}

/** Outputs that are no messages; an answer that somebody deleted stays away. */
function showsOutputs(turn: Turn): boolean {
  return turn.status === "done" && !(turn.edited && messagesIn(turn.outputs));
}

interface EditableProps {
  turn: Turn;
  side: "said" | "answer";
  index: number;
  message: ChatMessage;
  calls?: readonly ShownCall[];
  actions: ThreadActions;
  answerField?: (call: ShownCall) => ReactNode;
  resultActions?: (call: ShownCall) => ReactNode;
}

/** The name of a change that is being typed: a row that is scrolled out of the page comes back with it. */
const editOf = (turn: Turn, side: "said" | "answer", index: number) => `edit.${turn.id}.${side}.${index}`;

/** A message that can be changed and deleted. */
function Editable(props: EditableProps) {
  const { turn, side, index, message, calls, actions, answerField, resultActions } = props;
  const draft = editOf(turn, side, index);
  const [editing, setEditing] = useState(() => hasDraft(draft));
  const change = async (next: ChatMessage | null) => {
    await actions.edit(turn, side, index, next);
    setEditing(false);
  };
  if (editing) {
    return <MessageEditor message={message} draft={draft} onSave={change} onCancel={() => setEditing(false)} />;
  }
  return (
    <Message
      message={message}
      {...(calls ? { calls } : {})}
      {...(answerField ? { answerField } : {})}
      {...(resultActions ? { resultActions } : {})}
      actions={
        <MessageActions
          turn={turn}
          actions={actions}
          onEdit={() => setEditing(true)}
          onDelete={() => void change(null).catch(() => undefined)}
        />
      }
    />
  );
}

interface ResultActionsProps {
  turn: Turn;
  side: "said" | "answer";
  call: ShownCall;
  actions: ThreadActions;
}

/** The result of a tool is a message, too: it stands in the card of its call. */
function ResultActions({ turn, side, call, actions }: ResultActionsProps) {
  const index = call.answer?.index ?? null;
  const draft = editOf(turn, side, index ?? 0);
  const [editing, setEditing] = useState(() => hasDraft(draft));
  const message = index === null ? undefined : (side === "said" ? turn.said : turn.replies)[index];
  if (index === null || !message) return null;
  const change = async (next: ChatMessage | null) => {
    await actions.edit(turn, side, index, next);
    setEditing(false);
  };
  if (editing) {
    return <MessageEditor message={message} draft={draft} onSave={change} onCancel={() => setEditing(false)} />;
  }
  return (
    <MessageActions
      turn={turn}
      actions={actions}
      what={` the result of ${call.name}`}
      onEdit={() => setEditing(true)}
      onDelete={() => void change(null).catch(() => undefined)}
    />
  );
}

interface MessageActionsProps {
  turn: Turn;
  actions: ThreadActions;
  /** What is changed, where it is not plain to see. */
  what?: string;
  onEdit: () => void;
  onDelete: () => void;
}

function MessageActions({ turn, actions, what, onEdit, onDelete }: MessageActionsProps) {
  const busy = turn.status === "running" || actions.busy;
  // What is cut cannot be changed without losing the rest.
  const cut = turn.truncated ? "Load all of the turn first" : undefined;
  const named = (does: string) => (what ? `${does}${what}` : undefined);
  return (
    <span className="message-actions">
      <button
        type="button"
        className="link"
        aria-label={named("Edit")}
        title={cut}
        onClick={onEdit}
        disabled={busy || cut !== undefined}
      >
        Edit
      </button>
      <button type="button" className="link" aria-label={named("Delete")} onClick={onDelete} disabled={busy}>
        Delete
      </button>
    </span>
  );
}
