/** What a person types: the messages that it means. */
import { errorText } from "../api/client";
import { isObject } from "../json";
import { type ChatMessage, userMessage } from "../messages";

export type Said = { ok: true; messages: ChatMessage[] } | { ok: false; problem: string };

/** Text is a message of the user; as JSON, it is a message or a list of messages, taken as they are. */
export function saidIn(typed: string, asJson: boolean): Said {
  if (!typed.trim()) return { ok: false, problem: "There is nothing to send yet." };
  if (!asJson) return { ok: true, messages: [userMessage(typed)] };
  let value: unknown;
  try {
    value = JSON.parse(typed);
  } catch (error) {
    return { ok: false, problem: `This is no valid JSON: ${errorText(error)}` };
  }
  const messages = Array.isArray(value) ? value : [value];
  if (messages.length && messages.every(isObject)) return { ok: true, messages };
  return { ok: false, problem: 'A message is an object, such as {"role": "user", "content": "Hello"}.' };
}
