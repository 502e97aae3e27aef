/** The database beside a thread, and what people do in the agent's place. */
import { queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";
import type { components } from "../../api/schema";

type Schemas = components["schemas"];
export type ThreadWorld = Schemas["ThreadWorld"];
export type RecordChange = Schemas["RecordChange"];
export type FieldChange = Schemas["FieldChange"];

const path = (thread: string) => ({ path: { thread_id: thread } });

/** Only agents of the benchmark work in a database. */
export const hasWorld = (address: string) => address.startsWith("episode:") || address.startsWith("agent:");

/** The world after the turns that a thread has; it is asked for anew when they change. */
export const worldQuery = (thread: string, turns: string) =>
  queryOptions({
    queryKey: ["world", thread, turns],
    queryFn: ({ signal }) => got(api.GET("/api/v1/threads/{thread_id}/world", { params: path(thread), signal })),
    placeholderData: (before) => before,
  });

export const sayAsAgent = (thread: string, version: number, say: string) =>
  got(api.POST("/api/v1/threads/{thread_id}/act", { params: path(thread), body: { version, say } }));
export const callAsAgent = (thread: string, version: number, tool: string, args: Record<string, unknown>) =>
  got(api.POST("/api/v1/threads/{thread_id}/act", { params: path(thread), body: { version, tool, arguments: args } }));
