/** Simulated users of the API. */
import { queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";
import type { components } from "../../api/schema";

type Schemas = components["schemas"];
export type Simulation = Schemas["Simulation"];
export type SimulateRequest = Partial<Schemas["SimulateRequest"]>;

const WORKING = new Set(["thinking", "talking"]);

/** Whether the user is at work, so that its state changes by itself. */
export const isWorking = (simulation: Simulation | undefined) => WORKING.has(simulation?.state ?? "");

const path = (thread: string) => ({ path: { thread_id: thread } });

export const simulatedUsersQuery = queryOptions({
  queryKey: ["simulated-users"],
  queryFn: ({ signal }) => got(api.GET("/api/v1/simulated-users", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const simulationQuery = (thread: string) =>
  queryOptions({
    queryKey: ["simulation", thread],
    queryFn: ({ signal }) => got(api.GET("/api/v1/threads/{thread_id}/simulate", { params: path(thread), signal })),
    refetchInterval: ({ state }) => (isWorking(state.data) ? 400 : false),
  });

export const simulate = (thread: string, body: SimulateRequest) =>
  got(
    api.POST("/api/v1/threads/{thread_id}/simulate", {
      params: path(thread),
      body: { goal: "", persona: "", max_turns: 10, steps: 1, ...body },
    }),
  );
export const sendSimulated = (thread: string, text: string) =>
  got(api.POST("/api/v1/threads/{thread_id}/simulate/send", { params: path(thread), body: { text } }));
export const stopSimulation = (thread: string) =>
  got(api.POST("/api/v1/threads/{thread_id}/simulate/stop", { params: path(thread) }));
