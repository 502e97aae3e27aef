import { useState } from "react";
import { sameJson } from "../json";
import { type ChatMessage, callMessage, type ShownCall, toolMessage, unanswered } from "../messages";
import { store, stored } from "../storage";
import { useDraft } from "./drafts";

interface ToolAnswerFieldProps {
  /** The turn that the call stands in: other turns may have calls with the same id. */
  turn: string;
  call: ShownCall;
  /** The messages of the turn's answer, whose calls may wait for results. */
  replies: readonly ChatMessage[];
  /** Calls without a result that were told as events, and that no message has. */
  told: readonly ShownCall[];
  onSend: (messages: ChatMessage[]) => Promise<unknown>;
}

/** The result of a tool, filled in by hand. The turn goes on when all calls have theirs. */
export function ToolAnswerField({ turn, call, replies, told, onSend }: ToolAnswerFieldProps) {
  const own = unanswered(replies);
  const open = [...own, ...told];
  const place = keyOf(turn, call, open);
  const [text, setText] = useDraft(`tool.${place}`);
  const [waits, setWaits] = useState(stored(`kept.${place}`) !== null);
  const change = (next: string) => {
    setText(next);
    // What is changed is not what was kept.
    store(`kept.${place}`, null);
    setWaits(false);
  };
  const send = async () => {
    store(`kept.${place}`, text);
    const kept = open.map((one) => stored(`kept.${keyOf(turn, one, open)}`));
    if (kept.some((one) => one === null)) {
      setWaits(true);
      return;
    }
    await onSend(resultMessages(own, told, kept.map(String)));
    for (const one of open) {
      const key = keyOf(turn, one, open);
      store(`kept.${key}`, null);
      store(`draft.tool.${key}`, null);
    }
  };
  return (
    <div className="tool-answer">
      <textarea
        aria-label={`Result of ${call.name}`}
        placeholder={`What ${call.name} gives back`}
        rows={2}
        value={text}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void send().catch(() => undefined);
        }}
      />
      <div className="field-row">
        <button type="button" className="small main" onClick={() => void send().catch(() => undefined)}>
          {open.length > 1 ? "Keep the result" : "Send the result"}
        </button>
        {waits && <span className="quiet">Kept. The turn goes on when every call has its result.</span>}
      </div>
    </div>
  );
}

/** The results of calls as messages. Calls that no message has come with one before their results. */
export function resultMessages(
  own: readonly ShownCall[],
  told: readonly ShownCall[],
  results: readonly string[],
): ChatMessage[] {
  const answers = [...own, ...told].map((call, place) => toolMessage(call, results[place] ?? ""));
  if (!told.length) return answers;
  return [...answers.slice(0, own.length), callMessage(told), ...answers.slice(own.length)];
}

/** A name for a call: its id, and for one without an id its place among those that are open. */
function keyOf(turn: string, call: ShownCall, open: readonly ShownCall[]): string {
  const same = (one: ShownCall) => one.name === call.name && sameJson(one.input, call.input);
  return `${turn}.${call.id ?? open.findIndex(same)}`;
}
