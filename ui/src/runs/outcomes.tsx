import { useQuery } from "@tanstack/react-query";
import { type OutcomeWords, outcomesQuery } from "./queries";

const UNKNOWN: OutcomeWords = { outcome: "", label: "", symbol: "#", meaning: "", tone: "plain" };

/** How an outcome is named and marked. */
export function useOutcomes(): (outcome: string | null) => OutcomeWords {
  const words = useQuery(outcomesQuery).data ?? [];
  const found = new Map(words.map((one) => [one.outcome, one]));
  return (outcome) => found.get(outcome ?? "missing") ?? { ...UNKNOWN, label: outcome ?? "Not played" };
}

/** The mark of an outcome, as in reports. */
export function OutcomeMark({ outcome }: { outcome: OutcomeWords }) {
  return (
    <span className={`cell ${outcome.tone}`} data-outcome={outcome.outcome} aria-hidden="true">
      {outcome.symbol}
    </span>
  );
}
