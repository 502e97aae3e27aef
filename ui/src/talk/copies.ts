/** A turn in other forms: to paste elsewhere. */
import type { CopyForm } from "../components/CopyButton";
import { pretty } from "../json";
import { type ChatMessage, textOf } from "../messages";
import { pythonText, quoted } from "../snippets";
import { messagesUntil } from "./actions";
import { getTurn, type Turn } from "./api";

/** `wire` is how the workflow is called; null where that, or what was said before, is not known. */
export function copyForms(turn: Turn, turns: readonly Turn[], wire: string | null): CopyForm[] {
  const whole = async () => (turn.truncated ? getTurn(turn.id) : turn);
  const forms: CopyForm[] = [
    { name: "Text", text: async () => textOfTurn(await whole()) },
    { name: "JSON", text: async () => jsonOfTurn(await whole()) },
  ];
  if (!turn.address || wire === null || turns.some((one) => one.truncated)) return forms;
  const call = callOf(turn, turns);
  const { address } = turn;
  if (wire === "invoke" || wire === "openai") forms.push({ name: "curl", text: () => curlLine(address, wire, call) });
  forms.push({ name: "Python", text: () => pythonCode(address, call) });
  return forms;
}

function jsonOfTurn({ said, inputs, outputs }: Turn): string {
  return pretty({ said, inputs, outputs });
}

export function textOfTurn(turn: Turn): string {
  const said = turn.said.map(textOf);
  const answered = turn.replies.length ? turn.replies.map(textOf) : [turn.text || outputText(turn.outputs)];
  return [...said, ...answered].filter(Boolean).join("\n\n");
}

function outputText(outputs: unknown): string {
  return typeof outputs === "string" ? outputs : outputs === null ? "" : pretty(outputs);
}

interface WorkflowCall {
  inputs: Record<string, unknown>;
  parameters: Record<string, unknown> | null;
}

/** What the workflow was called with in a turn. */
export function callOf(turn: Turn, turns: readonly Turn[]): WorkflowCall {
  const messages: ChatMessage[] = messagesUntil(turns, turn);
  const inputs = { ...(turn.inputs ?? {}), ...(messages.length ? { messages } : {}) };
  return { inputs, parameters: turn.parameters };
}

export function curlLine(address: string, wire: "invoke" | "openai", { inputs, parameters }: WorkflowCall): string {
  const [base = "", model] = address.split("#");
  const url = base.replace(/\/+$/, "") + (wire === "openai" ? "/chat/completions" : "/invoke");
  const body =
    wire === "openai"
      ? { ...(model ? { model } : {}), ...parameters, ...inputs }
      : { data: { inputs, ...(parameters ? { parameters } : {}) } };
  return `curl -s ${quoted(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`;
}

export function pythonCode(address: string, { inputs, parameters }: WorkflowCall): string {
  const given = parameters ? `\n    parameters=json.loads(${pythonText(JSON.stringify(parameters))}),` : "";
  return `import json

from greenroom.workflows import call_workflow

answer = call_workflow(
    ${pythonText(address)},
    inputs=json.loads(${pythonText(JSON.stringify(inputs))}),${given}
)
print(answer.outputs)
`;
}
