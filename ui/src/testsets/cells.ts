/** What a cell holds, by its shape. */
import { type ChatMessage, isMessage } from "../messages";
import type { Cell } from "./data";

/** What a row has in a column. A column may be named as something that every object has, such as `constructor`. */
export function valueIn<Value>(cells: Readonly<Record<string, Value>> | undefined, column: string): Value | undefined {
  return cells && Object.hasOwn(cells, column) ? cells[column] : undefined;
}

/** The value of a whole cell. A text that encodes an array or object counts as what it encodes, as in the store. */
export function cellValue(cell: Cell): unknown {
  if (cell.is_text && !/^\s*[[{]/.test(cell.text)) return cell.text;
  try {
    return JSON.parse(cell.text);
  } catch {
    return cell.text;
  }
}

/** The messages of a chat; null for any other cell. */
export function chatIn(cell: Cell): ChatMessage[] | null {
  if (cell.cut) return null;
  const value = cellValue(cell);
  return Array.isArray(value) && value.length > 0 && value.every(isMessage) ? value : null;
}

/** The messages that a cell shows: a chat, or one message. */
export function messagesIn(cell: Cell): ChatMessage[] | null {
  if (cell.cut) return null;
  const value = cellValue(cell);
  return isMessage(value) ? [value] : chatIn(cell);
}

/** Whether JSON comes back as it was after a browser read and wrote it: large numbers lose digits. */
export function survives(text: string): boolean {
  try {
    return plainText(JSON.stringify(JSON.parse(text))) === plainText(text);
  } catch {
    return false;
  }
}

function plainText(text: string): string {
  return text.replace(/\s+/g, "");
}
