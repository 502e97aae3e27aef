import { useState } from "react";
import { errorText } from "../api/client";
import { isObject, parsedJson, pretty, sameJson } from "../json";
import type { ChatMessage } from "../messages";
import { useDraft } from "./drafts";

interface MessageEditorProps {
  message: ChatMessage;
  /** The name under which what is typed is kept. */
  draft: string;
  onSave: (message: ChatMessage) => Promise<void>;
  onCancel: () => void;
}

/** Changes a message: its text, or all of it as JSON. */
export function MessageEditor({ message, draft, onSave, onCancel }: MessageEditorProps) {
  const plain = typeof message.content === "string";
  const [kept, keep] = useDraft(draft);
  const [{ asJson, text }, setTyped] = useState(() => startOf(message, kept));
  const change = (typed: Typed) => {
    setTyped(typed);
    keep(JSON.stringify(typed));
  };
  const [problem, setProblem] = useState<string | null>(null);
  const cancel = () => {
    keep("");
    onCancel();
  };
  const save = async () => {
    try {
      const next: unknown = asJson ? JSON.parse(text) : { ...message, content: text };
      if (!isObject(next)) throw new Error("A message is an object.");
      await onSave(next);
      keep("");
    } catch (error) {
      setProblem(error instanceof SyntaxError ? `This is no valid JSON: ${error.message}` : errorText(error));
    }
  };
  const swap = () => {
    const typed: unknown = asJson ? parsedJson(text) : undefined;
    if (asJson && !(isObject(typed) && sameJson({ ...typed, content: "" }, { ...message, content: "" }))) {
      setProblem("More than the text was changed, or this is no valid JSON: it stays JSON.");
      return;
    }
    if (isObject(typed) && typeof typed.content !== "string") {
      setProblem("The content is no text now: it stays JSON.");
      return;
    }
    change({ asJson: !asJson, text: isObject(typed) ? String(typed.content) : pretty({ ...message, content: text }) });
    setProblem(null);
  };
  return (
    <div className="message-editor">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: The person just asked to edit.
        autoFocus
        aria-label="Message"
        className={asJson ? "json-field" : ""}
        rows={Math.min(16, Math.max(2, text.split("\n").length))}
        value={text}
        onChange={(event) => change({ asJson, text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") cancel();
          else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      {problem && <span className="field-problem">{problem}</span>}
      <div className="field-row">
        <button type="button" className="main small" onClick={() => void save()}>
          Save
        </button>
        <button type="button" className="small" onClick={cancel}>
          Cancel
        </button>
        {plain && (
          <button type="button" className="small plain" aria-pressed={asJson} onClick={swap}>
            As JSON
          </button>
        )}
      </div>
    </div>
  );
}

interface Typed {
  asJson: boolean;
  text: string;
}

/** What was typed before, if anything was; else the message. */
function startOf(message: ChatMessage, kept: string): Typed {
  const typed = parsedJson(kept);
  if (isObject(typed) && typeof typed.text === "string") return { asJson: typed.asJson === true, text: typed.text };
  const plain = typeof message.content === "string";
  return { asJson: !plain, text: plain ? String(message.content) : pretty(message) };
}
