/** What lists of episodes and rows show of notes. */
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { api, got } from "../api/client";
import type { components } from "../api/schema";
import type { About } from "./DifferingCases";
import { useNoteEvents } from "./store";

export type MarkedSubject = components["schemas"]["MarkedSubject"];

/** What is noted about an episode or a row, if anything is. */
export type Marks = (item: number, trial: number) => MarkedSubject | undefined;

/** What is noted about the episodes of a run or the rows of an evaluation: `marked(item, trial)`. */
export function useMarked(about: About): Marks {
  useNoteEvents();
  const found = useQuery({
    queryKey: ["notes", "marked", about],
    queryFn: ({ signal }) =>
      got(api.GET("/api/v1/notes/subjects", { params: { query: { ...about, limit: 500 } }, signal })),
  });
  const items = found.data?.items;
  return useCallback((item, trial) => items?.find((one) => one.item === item && one.trial === trial), [items]);
}
