/** Rewind: threads and trials from a turn of a stored episode. */
import { queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";
import type { components } from "../../api/schema";

type Schemas = components["schemas"];
export type Trials = Schemas["Trials"];
export type TrialsItem = Schemas["TrialsItem"];

export interface RewindPlace {
  run: string;
  task: number;
  trial: number;
}

/** Where to go on: the beginning of a turn, or a step of it, both counted from 1. */
export type Start = { turn: number } | { step: number };

export const rewind = (place: RewindPlace, start: Start) =>
  got(api.POST("/api/v1/rewinds", { body: { ...place, ...start } }));

export interface TrialsWanted {
  trials: number;
  again: boolean;
  agent_strategy?: string;
  model?: string;
}

export const startTrials = (place: RewindPlace, start: Start, wanted: TrialsWanted) =>
  got(api.POST("/api/v1/rewinds/trials", { body: { ...place, ...start, ...wanted } }));

export const stopTrials = (run: string) =>
  got(api.POST("/api/v1/rewinds/trials/{run_id}/stop", { params: { path: { run_id: run } } }));

export const deleteTrials = (run: string) =>
  got(api.DELETE("/api/v1/rewinds/trials/{run_id}", { params: { path: { run_id: run } } }));

/** How trials stand; asked for again while they are played. */
export const trialsQuery = (run: string) =>
  queryOptions({
    queryKey: ["rewinds", "trials", run],
    queryFn: ({ signal }) =>
      got(api.GET("/api/v1/rewinds/trials/{run_id}", { params: { path: { run_id: run } }, signal })),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? 1000 : false),
  });

/** Trials that were played from the turns of an episode. */
export const rewindsQuery = (place: RewindPlace) =>
  queryOptions({
    queryKey: ["rewinds", "of", place],
    queryFn: ({ signal }) => got(api.GET("/api/v1/rewinds", { params: { query: place }, signal })),
  });
