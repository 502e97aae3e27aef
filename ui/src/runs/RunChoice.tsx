import { useInfiniteQuery } from "@tanstack/react-query";
import { NameChoice, useTyped } from "../components/NameChoice";
import { addressOf, runsQuery } from "./queries";

interface RunChoiceProps {
  label: string;
  value: string | undefined;
  onChoose: (run: string) => void;
}

/** A run by its name. */
export function RunChoice({ label, value, onChoose }: RunChoiceProps) {
  const typed = useTyped(value);
  const found = useInfiniteQuery(runsQuery(typed.asked));
  const runs = found.data?.pages[0]?.items ?? [];
  const suggestions = runs.map((run) => ({ name: addressOf(run), words: `${run.agent}, ${run.env}` }));
  return (
    <NameChoice label={label} typed={typed} placeholder="name of a run" suggestions={suggestions} onChoose={onChoose} />
  );
}
