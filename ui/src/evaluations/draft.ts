/** The form of a new evaluation: what is filled in, kept in this browser until it is run. */
import { isObject, type JsonObject } from "../json";
import { store, stored } from "../storage";
import type { Evaluation, EvaluationRequest } from "./queries";

export interface ChosenEvaluator {
  /** Tells the cards of the form apart. */
  id: number;
  name: string;
  alias: string;
  settings: JsonObject;
}

export interface Draft {
  workflow: string;
  testSet: string;
  name: string;
  evaluators: readonly ChosenEvaluator[];
  options: JsonObject;
}

export const EMPTY: Draft = { workflow: "", testSet: "", name: "", evaluators: [], options: {} };

const KEPT = "evaluation.draft";

export function keep(draft: Draft): void {
  store(KEPT, JSON.stringify(draft));
}

export function forget(): void {
  store(KEPT, null);
}

/** What was filled in before; what is not understood is left out. */
export function kept(): Draft {
  return draftOf(stored(KEPT));
}

export function draftOf(text: string | null): Draft {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "null");
  } catch {
    return EMPTY;
  }
  if (!isObject(value)) return EMPTY;
  const evaluators = Array.isArray(value.evaluators) ? value.evaluators : [];
  return {
    workflow: words(value.workflow),
    testSet: words(value.testSet),
    name: words(value.name),
    evaluators: evaluators.filter(isObject).map((one, id) => ({
      id,
      name: words(one.name),
      alias: words(one.alias),
      settings: isObject(one.settings) ? one.settings : {},
    })),
    options: isObject(value.options) ? value.options : {},
  };
}

/** The same again as an evaluation that there is; `known` are the options of the form. */
export function draftLike(evaluation: Evaluation, known: readonly string[]): Draft {
  const config: JsonObject = evaluation.config;
  const usual = (value: unknown) => value === null || value === false || (Array.isArray(value) && !value.length);
  return {
    workflow: words(config.workflow) || evaluation.workflow,
    testSet: `${evaluation.test_set}@${evaluation.version}`,
    name: "",
    // Evaluators that rows name come with the test set.
    evaluators: evaluation.used
      .filter((one) => one.rows === null || one.rows === undefined)
      .map((one, id) => ({
        id,
        name: one.name,
        alias: one.alias === one.name ? "" : one.alias,
        settings: one.settings,
      })),
    options: Object.fromEntries(
      Object.entries(config).filter(([name, value]) => known.includes(name) && !usual(value)),
    ),
  };
}

export function withEvaluator(draft: Draft, name: string): Draft {
  const id = Math.max(-1, ...draft.evaluators.map((one) => one.id)) + 1;
  const same = draft.evaluators.filter((one) => one.name === name).length;
  // Two of a kind need two names.
  const alias = same ? `${name}-${same + 1}` : "";
  return { ...draft, evaluators: [...draft.evaluators, { id, name, alias, settings: {} }] };
}

export function requestOf(draft: Draft): EvaluationRequest {
  return {
    workflow: draft.workflow,
    test_set: draft.testSet,
    ...(draft.name.trim() ? { name: draft.name.trim() } : {}),
    evaluators: draft.evaluators.map(({ name, alias, settings }) => ({
      name,
      ...(alias.trim() ? { alias: alias.trim() } : {}),
      settings,
    })),
    options: draft.options,
  };
}

/** What has to be filled in before it can be run; null if nothing is missing. */
export function missing(draft: Draft): string | null {
  if (!draft.workflow) return "Choose a workflow.";
  if (!draft.testSet) return "Choose a test set.";
  return null;
}

/** The evaluator that an error is about, by its place; -1 if it is about none, or about the whole. */
export function blamed(draft: Draft, error: string): number {
  return draft.evaluators.findIndex((one) => {
    const name = one.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(^The ${name} evaluator\\b)|(^${name}:)|(of the ${name} evaluator\\b)`).test(error);
  });
}

function words(value: unknown): string {
  return typeof value === "string" ? value : "";
}
