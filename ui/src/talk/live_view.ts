/** A UI message that is being streamed, as chat messages: what a turn that runs shows. */
import type { UIMessage } from "ai";
import { isObject } from "../json";
import type { ChatMessage, ShownCall, ShownMessage } from "../messages";

export interface LiveView {
  messages: ShownMessage[];
  /** Outputs that are no messages, such as any JSON. */
  outputs: unknown[];
}

/** Each step of the answer is a message; a tool's result stands with its call. */
export function liveView(message: UIMessage | undefined): LiveView {
  const view: LiveView = { messages: [], outputs: [] };
  let text = "";
  let calls: ShownCall[] = [];
  const endStep = () => {
    if (text || calls.length) view.messages.push({ index: view.messages.length, message: assistant(text), calls });
    text = "";
    calls = [];
  };
  for (const part of message?.parts ?? []) {
    if (part.type === "step-start") endStep();
    else if (part.type === "text") text += part.text;
    else if (part.type === "data-output" && "data" in part) view.outputs.push(part.data);
    else if (part.type === "dynamic-tool" || part.type.startsWith("tool-")) calls.push(callOf(part));
  }
  endStep();
  return view;
}

function assistant(text: string): ChatMessage {
  return { role: "assistant", content: text };
}

function callOf(part: object): ShownCall {
  const fields = isObject(part) ? part : {};
  const type = typeof fields.type === "string" ? fields.type : "";
  const failed = fields.state === "output-error";
  const done = failed || fields.state === "output-available";
  return {
    id: typeof fields.toolCallId === "string" ? fields.toolCallId : null,
    name: typeof fields.toolName === "string" ? fields.toolName : type.replace(/^tool-/, ""),
    input: fields.input,
    answer: done ? { index: null, content: failed ? fields.errorText : fields.output, isError: failed } : null,
  };
}
