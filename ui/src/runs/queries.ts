/** What the pages of runs ask the API. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, got, STILL_THERE } from "../api/client";
import type { components } from "../api/schema";
import type { Noted } from "../notes/choices";

type Schemas = components["schemas"];
export type RunItem = Schemas["RunItem"];
export type Run = Schemas["Run"];
export type EpisodeItem = Schemas["EpisodeItem"];
export type Episode = Schemas["Episode"];
export type ShownItem = Schemas["ShownItem"];
export type Truth = Schemas["Truth"];
export type GridRow = Schemas["GridRow"];
export type Beside = Schemas["Beside"];
export type FlippedTask = Schemas["FlippedTask"];
export type OutcomeWords = Schemas["OutcomeWords"];
export type TrendPoint = Schemas["TrendPoint"];

/** How often a run that goes on is asked for, where events do not tell. */
const LOOK_AGAIN = 2000;

export interface EpisodeFilter {
  outcome?: string;
  kind?: string;
  tool?: string;
  task?: number;
  q?: string;
  noted?: Noted;
}

const first: string | null = null;
const next = (page: { next?: string | null }) => page.next ?? null;
const from = (after: string | null) => (after === null ? {} : { after });

export const outcomesQuery = queryOptions({
  queryKey: ["outcomes"],
  queryFn: () => got(api.GET("/api/v1/outcomes")),
  staleTime: Number.POSITIVE_INFINITY,
});

export const runsQuery = (q: string) =>
  infiniteQueryOptions({
    queryKey: ["runs", "list", q],
    queryFn: ({ pageParam }) => got(api.GET("/api/v1/runs", { params: { query: { q, ...from(pageParam) } } })),
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.items.some((run) => run.status === "running")) ? LOOK_AGAIN : STILL_THERE,
  });

export const runQuery = (run: string) =>
  queryOptions({
    queryKey: ["runs", "one", run],
    queryFn: () => got(api.GET("/api/v1/runs/{run}", { params: { path: { run } } })),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? LOOK_AGAIN : STILL_THERE),
  });

export const reportQuery = (run: string) =>
  queryOptions({
    queryKey: ["runs", "report", run],
    queryFn: () => got(api.GET("/api/v1/runs/{run}/report", { params: { path: { run } } })),
  });

export const gridQuery = (run: string, firstTrial: number) =>
  infiniteQueryOptions({
    queryKey: ["runs", "grid", run, firstTrial],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/api/v1/runs/{run}/grid", {
          params: { path: { run }, query: { first_trial: firstTrial, ...from(pageParam) } },
        }),
      ),
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
  });

export const episodesQuery = (run: string, filter: EpisodeFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "episodes", run, filter],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/api/v1/runs/{run}/episodes", {
          params: { path: { run }, query: { ...filter, ...from(pageParam) } },
        }),
      ),
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
  });

export const episodeQuery = (run: string, task: number, trial: number) =>
  queryOptions({
    queryKey: ["runs", "episode", run, task, trial],
    queryFn: () =>
      got(api.GET("/api/v1/runs/{run}/episodes/{task}/{trial}", { params: { path: { run, task, trial } } })),
  });

/** The episodes before and after one. In a long run they take a moment longer than the episode itself. */
export const neighboursQuery = (run: string, task: number, trial: number, filter: EpisodeFilter) =>
  queryOptions({
    queryKey: ["runs", "neighbours", run, task, trial, filter],
    queryFn: () =>
      got(
        api.GET("/api/v1/runs/{run}/episodes/{task}/{trial}/neighbours", {
          params: { path: { run, task, trial }, query: filter },
        }),
      ),
  });

/** One step with every text in full. */
export const wholeStep = (run: string, task: number, trial: number, step: number) =>
  got(
    api.GET("/api/v1/runs/{run}/episodes/{task}/{trial}/steps/{step}", {
      params: { path: { run, task, trial, step } },
    }),
  );

export const wholeRecord = (run: string, task: number, trial: number) =>
  got(api.GET("/api/v1/runs/{run}/episodes/{task}/{trial}/record", { params: { path: { run, task, trial } } }));

export const besideQuery = (
  run: string,
  task: number,
  query: { other: string; trial?: number; other_trial?: number; other_task?: number },
) =>
  queryOptions({
    queryKey: ["runs", "beside", run, task, query],
    queryFn: () => got(api.GET("/api/v1/runs/{run}/tasks/{task}/beside", { params: { path: { run, task }, query } })),
    placeholderData: keepPreviousData,
  });

/** Two runs that are compared; `equal`: only the tasks that are equal in both. */
export interface Pair {
  a: string;
  b: string;
  equal: boolean;
}

const ofPair = ({ a, b, equal }: Pair) => ({ a, b, ...(equal ? { equal_tasks: true } : {}) });

export const comparisonQuery = (pair: Pair) =>
  queryOptions({
    queryKey: ["runs", "comparison", pair],
    queryFn: () => got(api.GET("/api/v1/comparisons", { params: { query: ofPair(pair) } })),
  });

export const flipsQuery = (pair: Pair, direction: "broke" | "healed" | undefined) =>
  infiniteQueryOptions({
    queryKey: ["runs", "flips", pair, direction],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/api/v1/comparisons/flips", {
          params: { query: { ...ofPair(pair), ...(direction ? { direction } : {}), ...from(pageParam) } },
        }),
      ),
    initialPageParam: first,
    getNextPageParam: next,
  });

export const trendQuery = (agent: string, env: string) =>
  infiniteQueryOptions({
    queryKey: ["runs", "trend", agent, env],
    queryFn: ({ pageParam }) =>
      got(api.GET("/api/v1/trends", { params: { query: { agent, env, ...from(pageParam) } } })),
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
    refetchInterval: STILL_THERE,
  });

/** What stands for a run in an address: its name, or its id where a name would not do. */
export function addressOf(run: { name: string; id: string }): string {
  return /^[\w.+@=~-]+$/.test(run.name) && !/^(compare|\.+)$/.test(run.name) ? run.name : run.id;
}
