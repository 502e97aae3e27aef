/** What a turn took, in words. */
import { costWords, secondsWords } from "../numbers";
import type { Turn } from "./api";

/** Latency and tokens of a turn as far as they are known, and its cost if any turn of its thread tells such things. */
export function figuresOf(turn: Turn, turns: readonly Turn[] = [turn]): string[] {
  const words: string[] = [];
  if (turn.seconds !== null && turn.seconds !== undefined) words.push(secondsWords(turn.seconds));
  const taken = turn.prompt_tokens ?? null;
  const given = turn.completion_tokens ?? null;
  if (taken !== null || given !== null)
    words.push(`${(taken ?? 0).toLocaleString("en")} + ${(given ?? 0).toLocaleString("en")} tokens`);
  // Where models are asked, a turn may have cost something, known or not.
  if (turn.cost !== null && turn.cost !== undefined) words.push(costWords(turn.cost));
  else if (words.length && turns.some(asksModels)) words.push("cost –");
  return words;
}

function asksModels({ prompt_tokens, completion_tokens, cost }: Turn): boolean {
  return [prompt_tokens, completion_tokens, cost].some((figure) => typeof figure === "number");
}
