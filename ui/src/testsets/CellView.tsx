import { memo } from "react";
import { LongText } from "../components/LongText";
import { Output } from "../components/Output";
import { sizeWords } from "../json";
import { type ChatMessage, roleOf, textOf, toolCallsOf } from "../messages";
import { cellValue, messagesIn, survives } from "./cells";
import type { Cell } from "./data";

const FIRST = 4;

/** A cell in a table: a few lines of it. Chats are shown as conversations. */
export const CellView = memo(function CellView({ cell }: { cell: Cell | undefined }) {
  if (!cell) return <span className="cell-none" title="No value" />;
  const chat = messagesIn(cell);
  if (chat) return <ShortChat messages={chat} />;
  if (cell.kind === "empty") return <span className="quiet">{cell.is_text ? "(empty text)" : cell.text}</span>;
  return (
    <div className={cell.is_text && cell.kind === "text" ? "cell-text" : "cell-text mono"}>
      {cell.messages != null && <span className="badge">{cell.messages} messages</span>}
      {cell.text}
      {cell.cut && <span className="quiet"> … {sizeWords(cell.size)}</span>}
    </div>
  );
});

function ShortChat({ messages }: { messages: readonly ChatMessage[] }) {
  const left = messages.length - FIRST;
  return (
    <ol className="short-chat">
      {messages.slice(0, FIRST).map((message, place) => {
        const calls = toolCallsOf(message).map((call) => call.name);
        return (
          // Messages have no names, and their order does not change.
          // biome-ignore lint/suspicious/noArrayIndexKey: See above.
          <li key={place} data-role={roleOf(message)}>
            <span className="role">{roleOf(message)}</span>{" "}
            {textOf(message) || (calls.length ? `calls ${calls.join(", ")}` : "(empty)")}
          </li>
        );
      })}
      {left > 0 && <li className="quiet">{left} more</li>}
    </ol>
  );
}

/** A whole cell, from its root. */
export function WholeCell({ cell }: { cell: Cell }) {
  // A number that the browser would round is shown as it is written.
  if (!cell.is_text && !survives(cell.text)) return <LongText text={cell.text} plain />;
  return <Output value={cellValue(cell)} />;
}
