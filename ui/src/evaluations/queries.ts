/** What the pages of evaluations ask the API. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, got, STILL_THERE } from "../api/client";
import type { components } from "../api/schema";
import type { Change } from "./routes";

type Schemas = components["schemas"];
export type EvaluationItem = Schemas["EvaluationItem"];
export type Evaluation = Schemas["Evaluation"];
export type EvaluatorInfo = Schemas["EvaluatorInfo"];
export type EvaluationRequest = Schemas["EvaluationRequest"];
export type ResultItem = Schemas["ResultItem"];
export type Result = Schemas["Result"];
export type ShownScore = Schemas["ShownScore"];
export type ComparedRow = Schemas["ComparedRow"];
export type Workflow = Schemas["Workflow"];

/** How often an evaluation that goes on is asked for, where events do not tell. */
export const LOOK_AGAIN = 1500;

export interface ResultFilter {
  outcome?: string;
  evaluator?: string;
  only?: "failed";
  q?: string;
}

const first: string | null = null;
const next = (page: { next?: string | null }) => page.next ?? null;
const from = (after: string | null) => (after === null ? {} : { after });

export const evaluationsQuery = (q: string, testSet?: string) =>
  infiniteQueryOptions({
    queryKey: ["evaluations", "list", q, testSet ?? ""],
    queryFn: ({ pageParam }) => {
      const query = { q, ...(testSet ? { test_set: testSet } : {}), ...from(pageParam) };
      return got(api.GET("/api/v1/evaluations", { params: { query } }));
    },
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.items.some((one) => one.status === "running")) ? LOOK_AGAIN : STILL_THERE,
  });

export const evaluationQuery = (name: string) =>
  queryOptions({
    queryKey: ["evaluations", "one", name],
    queryFn: () => got(api.GET("/api/v1/evaluations/{name}", { params: { path: { name } } })),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? LOOK_AGAIN : STILL_THERE),
  });

/** The figures; asked for again when more is finished. */
export const reportQuery = (name: string, finished: number, status: string) =>
  queryOptions({
    queryKey: ["evaluations", "report", name, finished, status],
    queryFn: () => got(api.GET("/api/v1/evaluations/{name}/report", { params: { path: { name } } })),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });

export const resultsQuery = (name: string, filter: ResultFilter) =>
  infiniteQueryOptions({
    queryKey: ["evaluations", "results", name, filter],
    queryFn: ({ pageParam }) => {
      const { only, ...rest } = filter;
      const query = { ...rest, ...(only ? { failed: true } : {}), ...from(pageParam) };
      return got(api.GET("/api/v1/evaluations/{name}/results", { params: { path: { name }, query } }));
    },
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
  });

/** A result as a whole; once it is there it never changes. */
export const resultQuery = (name: string, item: number, trial: number) =>
  queryOptions({
    queryKey: ["evaluations", "result", name, item, trial],
    queryFn: () =>
      got(api.GET("/api/v1/evaluations/{name}/results/{item}/{trial}", { params: { path: { name, item, trial } } })),
    staleTime: 60_000,
    gcTime: 60_000,
    retry: false,
  });

export const comparisonQuery = (a: string, b: string) =>
  queryOptions({
    queryKey: ["evaluations", "comparison", a, b],
    queryFn: () => got(api.GET("/api/v1/evaluations/compare", { params: { query: { a, b } } })),
    retry: false,
  });

export const comparedRowsQuery = (a: string, b: string, change: Change | undefined) =>
  infiniteQueryOptions({
    queryKey: ["evaluations", "compared", a, b, change ?? ""],
    queryFn: ({ pageParam }) => {
      const query = { a, b, ...(change ? { change } : {}), ...from(pageParam) };
      return got(api.GET("/api/v1/evaluations/compare/rows", { params: { query } }));
    },
    initialPageParam: first,
    getNextPageParam: next,
    placeholderData: keepPreviousData,
    retry: false,
  });

export const evaluatorsQuery = queryOptions({
  queryKey: ["evaluators"],
  queryFn: () => got(api.GET("/api/v1/evaluators")),
  staleTime: Number.POSITIVE_INFINITY,
});

export const workflowsQuery = queryOptions({
  queryKey: ["workflows", "choices"],
  queryFn: () => got(api.GET("/api/v1/workflows")),
});

/** Test sets whose names have a text in them. */
export const testSetsQuery = (q: string) =>
  queryOptions({
    queryKey: ["test-sets", "names", q],
    queryFn: () => got(api.GET("/api/v1/test-sets", { params: { query: { ...(q ? { q } : {}), limit: 100 } } })),
    placeholderData: keepPreviousData,
  });
