/** Chat messages as workflows take and give them, and how they are shown. */
import { isObject, type JsonObject, parsedJson } from "./json";

/** A message, unchanged: mostly `role`, `content`, `tool_calls`, `tool_call_id`, `name`. */
export type ChatMessage = JsonObject;

export interface ToolCall {
  id: string | null;
  name: string;
  /** An object or list where the call has one, else its text as it is. */
  input: unknown;
}

export interface Answer {
  /** Where the message with the answer stands in the list; null if it came otherwise. */
  index: number | null;
  content: unknown;
  isError: boolean;
}

export interface ShownCall extends ToolCall {
  answer: Answer | null;
}

/** A message in a list, with the answers to its calls folded into it. */
export interface ShownMessage {
  index: number;
  message: ChatMessage;
  calls: ShownCall[];
}

export function roleOf(message: ChatMessage): string {
  return typeof message.role === "string" ? message.role : "";
}

export function isMessage(value: unknown): value is ChatMessage {
  return isObject(value) && typeof value.role === "string" && ("content" in value || "tool_calls" in value);
}

/** The text of a message: its content, or the texts of its parts. */
export function textOf(message: ChatMessage): string {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === null || content === undefined ? "" : JSON.stringify(content);
  return content
    .map((part: unknown) => (isObject(part) && typeof part.text === "string" ? part.text : ""))
    .filter(Boolean)
    .join("\n");
}

export function toolCallsOf(message: ChatMessage): ToolCall[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return calls.filter(isObject).map((call) => {
    const of: JsonObject = isObject(call.function) ? call.function : call;
    const given = of.arguments ?? of.input;
    return {
      id: typeof call.id === "string" ? call.id : null,
      name: typeof of.name === "string" ? of.name : "(no name)",
      input: typeof given === "string" ? (parsedJson(given) ?? given) : given,
    };
  });
}

/** The messages of a list as they are shown: a tool's answer stands with its call. */
export function shownMessages(messages: readonly ChatMessage[]): ShownMessage[] {
  const shown: ShownMessage[] = [];
  const open = new Map<string, ShownCall>();
  messages.forEach((message, index) => {
    const call = roleOf(message) === "tool" ? open.get(String(message.tool_call_id)) : undefined;
    if (call && !call.answer) {
      call.answer = { index, content: message.content, isError: looksLikeError(message.content) };
      return;
    }
    const calls = toolCallsOf(message).map((one): ShownCall => ({ ...one, answer: null }));
    for (const one of calls) if (one.id !== null) open.set(one.id, one);
    shown.push({ index, message, calls });
  });
  return shown;
}

/** The calls of a list of messages that no message answers yet. */
export function unanswered(messages: readonly ChatMessage[]): ShownCall[] {
  return shownMessages(messages).flatMap(({ calls }) => calls.filter((call) => !call.answer));
}

export function looksLikeError(content: unknown): boolean {
  return typeof content === "string" && /^Error\b/.test(content);
}

/** What a workflow returned, as it is shown from the root: messages, text, or any JSON. */
export function messagesIn(outputs: unknown): ChatMessage[] | null {
  if (isMessage(outputs)) return [outputs];
  if (Array.isArray(outputs) && outputs.length > 0 && outputs.every(isMessage)) return outputs;
  return null;
}

export function userMessage(text: string): ChatMessage {
  return { role: "user", content: text };
}

/** Calls that no message has, as the message that they would stand in: only then can messages answer them. */
export function callMessage(calls: readonly ToolCall[]): ChatMessage {
  const tool_calls = calls.map(({ id, name, input }) => ({
    ...(id === null ? {} : { id }),
    type: "function",
    function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) },
  }));
  return { role: "assistant", content: null, tool_calls };
}

/** The result of a call; one without an id is answered by its name. */
export function toolMessage(call: ToolCall, content: string): ChatMessage {
  return { role: "tool", ...(call.id === null ? { name: call.name } : { tool_call_id: call.id }), content };
}
