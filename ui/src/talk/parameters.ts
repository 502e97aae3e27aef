import type { JsonObject } from "../json";

/** What a variant differs by. */
export function parameterWords(parameters: JsonObject | null | undefined): string {
  return Object.entries(parameters ?? {})
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
