/** Workflows, boards, threads and turns of the API, as the pages ask for them. */
import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { api, got, outliving } from "../api/client";
import type { components } from "../api/schema";
import type { ChatMessage } from "../messages";

type Schemas = components["schemas"];
// The server sends every field of an answer; its document calls those optional that have a default.
export type Workflow = Required<Schemas["Workflow"]>;
export type Turn = Required<Schemas["Turn"]>;
export type ThreadHead = Required<Omit<Schemas["ThreadHead"], "last">> & { last: Turn | null };
export type Thread = Omit<ThreadHead, "turns"> & { turns: Turn[]; earlier: string | null };
export type Board = Required<Omit<Schemas["Board"], "threads">> & { threads: ThreadHead[] };
export type BoardSummary = Schemas["BoardSummary"];
export type ThreadSpec = Partial<Schemas["ThreadSpec"]> & { address: string };
export type ThreadChange = Schemas["ThreadChange"];

/** An answer with the fields that it always has. */
async function whole<Answer>(answer: Promise<unknown>): Promise<Answer> {
  return (await answer) as Answer;
}
export type TreatAs = "chat" | "completion";

export interface TurnRequest {
  version: number;
  messages?: ChatMessage[];
  inputs?: Record<string, unknown>;
  after?: string;
  run?: boolean;
}

export const workflowsQuery = queryOptions({
  queryKey: ["workflows"],
  queryFn: ({ signal }) => whole<{ items: Workflow[] }>(got(api.GET("/api/v1/workflows", { signal }))),
});

/** One workflow, from the list if it is there. */
export const workflowQuery = (address: string) =>
  queryOptions({
    queryKey: ["workflows", "one", address],
    queryFn: ({ signal }) =>
      whole<Workflow>(got(api.GET("/api/v1/workflows/one", { params: { query: { address } }, signal }))),
    staleTime: 60_000,
  });

export const boardsQuery = (q: string, deleted: boolean) =>
  infiniteQueryOptions({
    queryKey: ["boards", q, deleted],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      got(api.GET("/api/v1/boards", { params: { query: { after: pageParam, q, deleted } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
  });

const ROWS = 20;

export const boardQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["board", id],
    initialPageParam: -1,
    queryFn: ({ pageParam, signal }) =>
      whole<Board>(
        got(
          api.GET("/api/v1/boards/{board_id}", {
            params: { path: { board_id: id }, query: { rows_after: pageParam, limit: ROWS } },
            signal,
          }),
        ),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });

const TURNS = 50;
const MOST_TURNS = 500;
/** How many turns of a thread are wanted, for those that somebody scrolled up in. */
const wanted = new Map<string, number>();

/** A thread with its last turns: as many as are wanted. */
export const threadQuery = (id: string) =>
  queryOptions({
    queryKey: ["thread", id],
    queryFn: async ({ signal }) => {
      const count = wanted.get(id) ?? TURNS;
      const found = await threadPage(id, null, Math.min(count, MOST_TURNS), signal);
      while (found.earlier !== null && found.turns.length < count) {
        const page = await threadPage(id, found.earlier, MOST_TURNS, signal);
        found.turns.unshift(...page.turns);
        found.earlier = page.earlier;
      }
      return found;
    },
  });

function threadPage(id: string, before: string | null, limit: number, signal: AbortSignal): Promise<Thread> {
  const params = { path: { thread_id: id }, query: { before, limit } };
  return whole<Thread>(got(api.GET("/api/v1/threads/{thread_id}", { params, signal })));
}

/** Load turns before those that are loaded. */
export async function loadEarlier(queries: QueryClient, thread: Thread): Promise<void> {
  if (thread.earlier === null) return;
  wanted.set(thread.id, thread.turns.length + TURNS);
  await refreshThread(queries, thread.id);
}

export const getTurn = (id: string, signal?: AbortSignal) =>
  whole<Turn>(
    got(api.GET("/api/v1/turns/{turn_id}", { params: { path: { turn_id: id } }, ...(signal ? { signal } : {}) })),
  );

export const turnQuery = (id: string) =>
  queryOptions({ queryKey: ["turn", id], queryFn: ({ signal }) => getTurn(id, signal) });

/** Show a turn at once that was just started; the store's own comes with the next answer. */
export function insertStarted(
  queries: QueryClient,
  thread: string,
  started: Turn,
  version: number,
  where: { after?: string | undefined; replaces?: string | undefined },
): void {
  queries.setQueryData(threadQuery(thread).queryKey, (found) => {
    if (!found || found.version >= version) return found;
    const after = { running: started.status === "running" ? started.id : null, can_undo: true, can_redo: false };
    const turns =
      where.replaces === undefined
        ? [...turnsUntil(found.turns, where.after), started]
        : found.turns.map((turn) => (turn.id === where.replaces ? started : turn));
    return { ...found, version, ...after, turns };
  });
}

/** The turns that stay before one that follows `after`; "" is the beginning. */
export function turnsUntil(turns: readonly Turn[], after: string | undefined): Turn[] {
  if (after === undefined) return [...turns];
  if (after === "") return [];
  const place = turns.findIndex((turn) => turn.id === after);
  return place < 0 ? [...turns] : turns.slice(0, place + 1);
}

export function refreshThread(queries: QueryClient, id: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["thread", id] });
}

/** How a board is treated and the inputs of its rows decide what is run: such changes are made one by one. */
export const runScope = (board: string) => `runs of ${board}`;

export function refreshBoard(queries: QueryClient, id: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["board", id] });
}

const board = (id: string) => ({ path: { board_id: id } });
const thread = (id: string) => ({ path: { thread_id: id } });

export const createBoard = (body: { title?: string; treat_as?: TreatAs | null; threads: ThreadSpec[] }) =>
  whole<Board>(
    got(
      api.POST("/api/v1/boards", {
        body: { title: "", ...body, threads: body.threads.map((one) => ({ title: "", ...one })) },
      }),
    ),
  );
export const changeBoard = (id: string, body: Schemas["BoardChange"]) =>
  whole<Board>(got(api.PATCH("/api/v1/boards/{board_id}", { params: board(id), body, ...outliving(body) })));
export const deleteBoard = (id: string) => got(api.DELETE("/api/v1/boards/{board_id}", { params: board(id) }));
export const restoreBoard = (id: string) =>
  whole<Board>(got(api.POST("/api/v1/boards/{board_id}/restore", { params: board(id) })));
export const addThread = (id: string, body: ThreadSpec) =>
  whole<Thread>(
    got(api.POST("/api/v1/boards/{board_id}/threads", { params: board(id), body: { title: "", ...body } })),
  );
export const addColumn = (id: string, body: Schemas["ColumnRequest"]) =>
  whole<Board>(got(api.POST("/api/v1/boards/{board_id}/columns", { params: board(id), body })));
export const broadcast = (id: string, messages: ChatMessage[]) =>
  got(api.POST("/api/v1/boards/{board_id}/broadcast", { params: board(id), body: { messages } }));

export const changeThread = (id: string, body: ThreadChange) =>
  whole<Thread>(got(api.PATCH("/api/v1/threads/{thread_id}", { params: thread(id), body })));
export const deleteThread = (id: string) => got(api.DELETE("/api/v1/threads/{thread_id}", { params: thread(id) }));
export const restoreThread = (id: string) =>
  whole<Thread>(got(api.POST("/api/v1/threads/{thread_id}/restore", { params: thread(id) })));
export const copyThread = (id: string, body: Schemas["CopyRequest"]) =>
  whole<Thread>(got(api.POST("/api/v1/threads/{thread_id}/copy", { params: thread(id), body })));
export const editThread = (id: string, body: Schemas["EditRequest"]) =>
  whole<Thread>(got(api.POST("/api/v1/threads/{thread_id}/edit", { params: thread(id), body })));
export const undoThread = (id: string, version: number) =>
  whole<Thread>(got(api.POST("/api/v1/threads/{thread_id}/undo", { params: thread(id), body: { version } })));
export const redoThread = (id: string, version: number) =>
  whole<Thread>(got(api.POST("/api/v1/threads/{thread_id}/redo", { params: thread(id), body: { version } })));
export const stopTurn = (id: string) =>
  whole<Turn>(got(api.POST("/api/v1/turns/{turn_id}/stop", { params: { path: { turn_id: id } } })));

export const addWorkflow = (address: string) =>
  whole<Workflow>(got(api.POST("/api/v1/workflows", { body: { address } })));
export const removeWorkflow = (address: string) =>
  got(api.DELETE("/api/v1/workflows", { params: { query: { address } } }));
export const restoreWorkflow = (address: string) =>
  whole<Workflow>(got(api.POST("/api/v1/workflows/restore", { body: { address } })));
export const inspectWorkflow = (address: string) =>
  whole<Workflow>(got(api.GET("/api/v1/workflows/one", { params: { query: { address, refresh: true } } })));
