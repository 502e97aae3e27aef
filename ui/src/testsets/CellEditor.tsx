import { type KeyboardEvent, useId, useState } from "react";
import { pretty } from "../json";
import { ConversationEditor } from "./ConversationEditor";
import { chatIn, survives } from "./cells";
import type { Cell } from "./data";
import type { NewValue } from "./draft";

interface CellEditorProps {
  /** Whole, not cut; undefined for a cell without a value. */
  cell: Cell | undefined;
  label: string;
  /** What was typed before, when the row was scrolled out of the page. */
  typed: Typed | null;
  onType: (typed: Typed) => void;
  onKeep: () => void;
  onLeave: () => void;
}

type Mode = "text" | "json" | "chat";

/** What stands in the editor of a cell. */
export interface Typed {
  mode: Mode;
  text: string;
}

const MODES: readonly { mode: Mode; name: string }[] = [
  { mode: "text", name: "Text" },
  { mode: "json", name: "JSON" },
  { mode: "chat", name: "Conversation" },
];

/** Edits a cell in its place: Ctrl-Enter keeps what was typed, Escape leaves the cell as it was. */
export function CellEditor({ cell, label, typed, onType, onKeep, onLeave }: CellEditorProps) {
  const [now, setNow] = useState<Typed>(() => typed ?? startOf(cell));
  const { mode, text } = now;
  const change = (next: Typed) => {
    setNow(next);
    onType(next);
  };
  const setText = (next: string) => change({ mode, text: next });
  const problem = useId();
  const wrong = mode === "text" ? null : jsonProblem(text);
  const keep = () => {
    onType(now);
    onKeep();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const withCtrl = event.ctrlKey || event.metaKey;
    if (withCtrl && event.key === "s") return; // saves the test set, with what is typed here
    if (event.key === "Escape") onLeave();
    else if (event.key === "Enter" && withCtrl) keep();
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: The keys of the fields within.
    <div className="cell-editor" onKeyDown={onKeyDown}>
      <fieldset className="cell-modes">
        <legend className="hidden-label">How {label} is edited</legend>
        {MODES.map((one) => (
          <button
            key={one.mode}
            type="button"
            className="small"
            aria-pressed={mode === one.mode}
            onClick={() => change({ mode: one.mode, text: converted(text, mode, one.mode) })}
          >
            {one.name}
          </button>
        ))}
      </fieldset>
      {mode === "chat" && !wrong ? (
        <ConversationEditor text={text} onChange={setText} label={label} />
      ) : (
        <textarea
          // biome-ignore lint/a11y/noAutofocus: The person has just asked to type here.
          autoFocus
          aria-label={label}
          aria-invalid={wrong ? true : undefined}
          aria-describedby={wrong ? problem : undefined}
          className={mode === "text" ? "" : "json-field"}
          rows={Math.min(16, Math.max(3, text.split("\n", 16).length))}
          spellCheck={mode === "text"}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {wrong && (
        <span className="field-problem" id={problem}>
          {wrong}
        </span>
      )}
      <div className="cell-buttons">
        <button type="button" className="main small" disabled={wrong !== null} onClick={keep}>
          Keep
        </button>
        <button type="button" className="small" onClick={onLeave}>
          Leave
        </button>
        <span className="quiet">Ctrl-Enter keeps, Esc leaves</span>
      </div>
    </div>
  );
}

/** The value that was typed; null if it makes no sense yet. */
export function meantBy({ mode, text }: Typed, cell: Cell | undefined): NewValue | null {
  if (mode === "text") return { text, isText: true };
  if (jsonProblem(text) !== null) return null;
  // A chat that a text encodes stays a text: CSV files have no other kind of cell.
  return { text: compact(text), isText: mode === "chat" && (cell?.is_text ?? false) };
}

function startOf(cell: Cell | undefined): Typed {
  // A chat whose numbers a browser would round is edited as JSON.
  const asChat = cell !== undefined && chatIn(cell) !== null && survives(cell.text);
  return { mode: asChat ? "chat" : !cell || cell.is_text ? "text" : "json", text: startText(cell, asChat) };
}

function startText(cell: Cell | undefined, asChat: boolean): string {
  if (!cell) return "";
  if (cell.is_text && !asChat) return cell.text;
  return survives(cell.text) ? pretty(JSON.parse(cell.text)) : cell.text;
}

function converted(text: string, from: Mode, to: Mode): string {
  if (from === to) return text;
  if (to === "text") return from === "chat" ? compact(text) : text;
  if (from === "text" && jsonProblem(text) !== null) {
    return to === "chat" ? pretty([{ role: "user", content: text }]) : JSON.stringify(text);
  }
  return text;
}

function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no valid JSON yet. ${error instanceof Error ? error.message : ""}`;
  }
}

/** JSON without blanks between its parts; numbers keep their digits. */
function compact(text: string): string {
  return survives(text) ? JSON.stringify(JSON.parse(text)) : text.trim();
}
