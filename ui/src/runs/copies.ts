/** An episode in other forms: to paste elsewhere. */
import type { CopyForm } from "../components/CopyButton";
import { isObject, pretty } from "../json";
import { apiCurl, pythonText, quoted } from "../snippets";
import { wholeRecord } from "./queries";

export interface EpisodePlace {
  run: string;
  task: number;
  trial: number;
}

export function copyForms(place: EpisodePlace): CopyForm[] {
  const { run, task, trial } = place;
  const record = () => wholeRecord(run, task, trial);
  return [
    { name: "Text", text: async () => textOfEpisode(await record()) },
    { name: "JSON", text: async () => pretty(await record()) },
    { name: "curl", text: () => apiCurl(window.location.origin, ["runs", run, "episodes", task, trial, "record"]) },
    { name: "Python", text: () => pythonCode(place) },
    { name: "Address", text: () => window.location.href },
  ];
}

/** The conversation of a stored episode, with its calls and what they gave. */
export function textOfEpisode(record: unknown): string {
  if (!isObject(record)) return "";
  const lines = listed(record.opening_calls).map(callLine);
  if (typeof record.opening === "string" && record.opening) lines.push(`User: ${record.opening}`);
  for (const step of listed(record.steps)) {
    const said = spoken(step);
    if (said === null) lines.push(callLine(step));
    else {
      lines.push(`Agent: ${said}`, ...listed(step.user_calls).map(callLine));
      const answered = step.source === "user" && typeof step.invalid !== "string";
      if (answered && typeof step.observation === "string") lines.push(`User: ${step.observation}`);
    }
  }
  return lines.join("\n\n");
}

type Fields = Record<string, unknown>;

function listed(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** What the agent says to the user in a step; null for a call of a tool. */
function spoken({ action }: Fields): string | null {
  if (!isObject(action) || action.name !== "respond" || !isObject(action.kwargs)) return null;
  return typeof action.kwargs.content === "string" ? action.kwargs.content : null;
}

function callLine({ action, observation }: Fields): string {
  const { name, kwargs, party, aside } = isObject(action) ? action : {};
  const who = party === "user" ? "User" : "Agent";
  const words = typeof aside === "string" && aside ? `${who}: ${aside}\n\n` : "";
  return `${words}${who} calls ${String(name)}(${JSON.stringify(kwargs ?? {})})\n→ ${String(observation)}`;
}

/** How to load an episode from the store, and how to go on from it. */
export function pythonCode({ run, task, trial }: EpisodePlace): string {
  return `from greenroom.store import open_store

# Go on from its first turn: greenroom replay ${commentWord(run)} ${task} --from-turn 1 --trial ${trial}
store = open_store()
run = store.runs.find(${pythonText(run)})
episode = store.runs.result(run.id, (${task}, ${trial}))
for step in episode.steps:
    print(step.action.name, step.action.kwargs, step.observation)
`;
}

/** A name as a word of a shell, within one line of a comment. */
function commentWord(name: string): string {
  return /^[\w.+@=~-]+$/.test(name) ? name : quoted(name.replace(/\s+/g, " "));
}
