import { useId } from "react";
import { JsonField } from "../components/TypedField";
import { isObject, pretty } from "../json";
import { type ChatMessage, isMessage, roleOf } from "../messages";

interface ConversationEditorProps {
  /** JSON: a list of messages. Anything else begins anew. */
  text: string;
  onChange: (text: string) => void;
  label: string;
}

const ROLES = ["system", "user", "assistant", "tool"];

/** Edits a chat message by message; what is not text, such as tool calls, is edited as JSON. */
export function ConversationEditor({ text, onChange, label }: ConversationEditorProps) {
  const messages = messagesOf(text);
  const change = (next: readonly ChatMessage[]) => onChange(pretty(next));
  const put = (place: number, message: ChatMessage) =>
    change(messages.map((one, at) => (at === place ? message : one)));
  const last = messages.at(-1);
  return (
    <div className="conversation-editor">
      {messages.map((message, place) => (
        <OneMessage
          // biome-ignore lint/suspicious/noArrayIndexKey: Messages have no names.
          key={place}
          message={message}
          number={place + 1}
          label={label}
          first={place === 0}
          onChange={(next) => put(place, next)}
          onDelete={() => change(messages.filter((_, at) => at !== place))}
          onUp={() => change(swapped(messages, place - 1))}
        />
      ))}
      <button
        type="button"
        className="small"
        onClick={() =>
          change([...messages, { role: last && roleOf(last) === "user" ? "assistant" : "user", content: "" }])
        }
      >
        Add a message
      </button>
    </div>
  );
}

interface OneMessageProps {
  message: ChatMessage;
  number: number;
  label: string;
  first: boolean;
  onChange: (message: ChatMessage) => void;
  onDelete: () => void;
  onUp: () => void;
}

function OneMessage({ message, number, label, first, onChange, onDelete, onUp }: OneMessageProps) {
  const roles = useId();
  const { content } = message;
  const plain = typeof content === "string" && Object.keys(message).every((key) => ["role", "content"].includes(key));
  return (
    <div className="edited-message" data-role={roleOf(message)}>
      <div className="edited-head">
        <input
          aria-label={`Role of message ${number}`}
          list={roles}
          value={roleOf(message)}
          onChange={(event) => onChange({ ...message, role: event.target.value })}
        />
        <datalist id={roles}>
          {ROLES.map((role) => (
            <option key={role} value={role} />
          ))}
        </datalist>
        <button
          type="button"
          className="small plain"
          disabled={first}
          onClick={onUp}
          aria-label={`Move message ${number} up`}
        >
          ↑
        </button>
        <button type="button" className="small plain" onClick={onDelete} aria-label={`Delete message ${number}`}>
          ×
        </button>
      </div>
      {plain ? (
        <textarea
          // biome-ignore lint/a11y/noAutofocus: The person has just asked to type here.
          autoFocus={first}
          aria-label={`Message ${number} of ${label}`}
          rows={Math.min(10, Math.max(2, content.split("\n", 10).length))}
          value={content}
          onChange={(event) => onChange({ ...message, content: event.target.value })}
        />
      ) : (
        <div className="field">
          <JsonField
            name={`Message ${number} of ${label}, without its role`}
            value={withoutRole(message)}
            onChange={(next) => isObject(next) && onChange({ role: roleOf(message), ...next })}
          />
        </div>
      )}
    </div>
  );
}

function messagesOf(text: string): ChatMessage[] {
  try {
    const found: unknown = JSON.parse(text);
    if (Array.isArray(found)) return found.filter(isMessage);
    return isMessage(found) ? [found] : [];
  } catch {
    return [];
  }
}

function withoutRole(message: ChatMessage): ChatMessage {
  const { role: _, ...rest } = message;
  return rest;
}

function swapped(messages: readonly ChatMessage[], place: number): ChatMessage[] {
  const next = [...messages];
  const [one, other] = [next[place], next[place + 1]];
  if (one && other) next.splice(place, 2, other, one);
  return next;
}
