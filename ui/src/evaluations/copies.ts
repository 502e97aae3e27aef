/** A result of an evaluation in other forms: to paste elsewhere. */
import type { CopyForm } from "../components/CopyButton";
import { pretty } from "../json";
import { textOf } from "../messages";
import { apiCurl, pythonText } from "../snippets";
import type { Result } from "./queries";

export function copyForms(evaluation: string, result: Result): CopyForm[] {
  const { item, trial } = result;
  return [
    { name: "Text", text: () => textOfResult(result) },
    { name: "Output as JSON", text: () => pretty(result.outputs) },
    { name: "JSON", text: () => pretty(result) },
    { name: "curl", text: () => apiCurl(window.location.origin, ["evaluations", evaluation, "results", item, trial]) },
    { name: "Python", text: () => pythonCode(evaluation, result) },
  ];
}

/** The conversation; of a completion, what went in and what came out. */
export function textOfResult({ messages, inputs, outputs, error }: Result): string {
  if (messages) return messages.map((one) => `${String(one.role)}: ${textOf(one)}`).join("\n\n");
  const words = (value: unknown) => (typeof value === "string" ? value : pretty(value));
  const given = Object.entries(inputs).map(([name, value]) => `${name}: ${words(value)}`);
  return [...given, error ? `error: ${error}` : `output: ${words(outputs)}`].join("\n\n");
}

/** How to load a result from the store. */
export function pythonCode(evaluation: string, { item, trial }: Result): string {
  return `from greenroom.store import open_store

store = open_store()
evaluation = store.evaluations.find(${pythonText(evaluation)})
result = store.evaluations.result(evaluation.id, (${item}, ${trial}))
print(result.outputs, result.scores)
`;
}
