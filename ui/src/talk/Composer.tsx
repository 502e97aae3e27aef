import { useEffect, useRef, useState } from "react";
import { errorText } from "../api/client";
import type { ChatMessage } from "../messages";
import { useDraft } from "./drafts";
import { saidIn } from "./said";

interface ComposerProps {
  /** The name under which what is typed is kept. */
  draft: string;
  label: string;
  placeholder: string;
  onSend: (messages: ChatMessage[]) => Promise<unknown>;
  /** The turn that runs: then there is a button to stop it. */
  onStop?: (() => void) | undefined;
  disabled?: boolean;
  onFocus?: () => void;
}

/** Where people type. Enter sends, Shift-Enter breaks the line; the focus stays. */
export function Composer({ draft, label, placeholder, onSend, onStop, disabled, onFocus }: ComposerProps) {
  const [text, setText] = useDraft(draft);
  const [asJson, setAsJson] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [waiting, setWaiting] = useState(false);
  const [sending, setSending] = useState(false);
  const running = onStop !== undefined || sending;
  const send = async () => {
    if (disabled) return;
    if (running) {
      setWaiting(text.trim() !== "");
      return;
    }
    setWaiting(false);
    const said = saidIn(text, asJson);
    if (!said.ok) {
      setProblem(text.trim() ? said.problem : null);
      return;
    }
    setProblem(null);
    setText("");
    setSending(true);
    try {
      await onSend(said.messages);
    } catch (error) {
      // What was typed comes back, before what was typed since, so that nothing has to be typed again.
      setWaiting(false);
      setText([text, typed.current].filter(Boolean).join("\n"));
      setProblem(errorText(error));
    }
    setSending(false);
  };
  const typed = useRef(text);
  useEffect(() => {
    typed.current = text;
  });
  const latest = useRef(send);
  useEffect(() => {
    latest.current = send;
  });
  // Whoever types while an answer is written has said it when the answer is complete.
  useEffect(() => {
    if (waiting && !running) void latest.current();
  }, [waiting, running]);
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        aria-label={label}
        placeholder={placeholder}
        className={asJson ? "json-field" : ""}
        rows={Math.min(8, text.split("\n", 8).length)}
        value={text}
        onFocus={onFocus}
        onChange={(event) => {
          setText(event.target.value);
          setWaiting(false);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <div className="composer-buttons">
        <button
          type="button"
          className="small plain"
          aria-pressed={asJson}
          title="Type a message, or a list of messages, as JSON"
          onClick={() => setAsJson(!asJson)}
        >
          {"{ }"}
          <span className="hidden-label">as JSON</span>
        </button>
        {onStop ? (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="submit" className="main" disabled={disabled}>
            Send
          </button>
        )}
      </div>
      {waiting && (
        <span className="quiet" role="status">
          Sent when the answer is complete; typing on keeps it.
        </span>
      )}
      {problem && (
        <span className="field-problem" role="alert">
          {problem}
        </span>
      )}
    </form>
  );
}
