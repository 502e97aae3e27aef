/** What a person fills in for a simulated user, and what is sent of it. */
import type { SimulateRequest } from "./api";

export interface Brief {
  user: string;
  model: string;
  provider: string;
  server: string;
  wants: "goal" | "task" | "own";
  goal: string;
  persona: string;
  env: string;
  task: string;
  turns: string;
}

/** A thread of an agent has a task of its own; other workflows need a goal. */
export function emptyBrief(hasTask: boolean): Brief {
  return {
    user: hasTask ? "" : "llm",
    model: "",
    provider: "",
    server: "",
    wants: hasTask ? "own" : "goal",
    goal: "",
    persona: "",
    env: "retail",
    task: "0",
    turns: "10",
  };
}

/** The request for a brief; fields that are left empty are left out. Raises an error for one that makes no sense. */
export function requestOf(brief: Brief, steps: 1 | "end"): SimulateRequest {
  const request: SimulateRequest = { steps };
  if (brief.user) request.user_strategy = brief.user;
  if (brief.model.trim()) request.model = brief.model.trim();
  if (brief.provider.trim()) request.model_provider = brief.provider.trim();
  if (brief.server.trim()) request.api_base = brief.server.trim();
  if (brief.wants === "goal") {
    request.goal = brief.goal;
    request.persona = brief.persona;
  } else if (brief.wants === "task") {
    const task = wholeNumber(brief.task);
    if (task === null) throw new Error("Name the task by its number: 0 is the first.");
    request.env = brief.env;
    request.task = task;
  }
  const turns = wholeNumber(brief.turns);
  if (turns !== null) request.max_turns = turns;
  else if (brief.turns.trim()) throw new Error("Most messages is a whole number.");
  return request;
}

function wholeNumber(text: string): number | null {
  const number = Number(text);
  return text.trim() && Number.isInteger(number) && number >= 0 ? number : null;
}
