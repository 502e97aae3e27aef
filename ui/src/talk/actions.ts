/** What people do with threads: each change is sent, then shown as the store has it. */
import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import type { ChatMessage } from "../messages";
import {
  copyThread,
  deleteThread,
  editThread,
  getTurn,
  insertStarted,
  redoThread,
  refreshBoard,
  refreshThread,
  stopTurn,
  type ThreadHead,
  type Turn,
  type TurnRequest,
  threadQuery,
  undoThread,
} from "./api";
import { follow, postTurn } from "./live";

/** Changes of a thread, from wherever they come, one after the other: each builds on what the one before has left. */
export function useThreadChange(id: string) {
  const queries = useQueryClient();
  return useMutation({
    scope: { id: `thread ${id}` },
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => refreshThread(queries, id),
  });
}

/** What can be done with a thread, and what went wrong last. */
export function useThreadActions(thread: ThreadHead) {
  const queries = useQueryClient();
  const change = useThreadChange(thread.id);
  // A turn is stopped at once, whatever waits for it.
  const apart = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => refreshThread(queries, thread.id),
  });
  const board = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => refreshBoard(queries, thread.board_id),
  });
  const { id } = thread;
  const version = () => currentVersion(queries, thread);
  const send = (request: Omit<TurnRequest, "version">) =>
    change.mutateAsync(() => startTurn(queries, thread, { ...request, version: version() }));
  return {
    send,
    /** Run turns that are not sent yet, one after the other; one that breaks or is stopped is the last. */
    runDrafts: (count: number) => apart.mutate(() => runDrafts(queries, thread, count)),
    /** The same again, from what was said in a turn; what came after it stays in the history. */
    rerun: (turn: Turn, before: Turn | null) => void againOf(turn, before).then(send).catch(shown),
    edit: (turn: Turn, side: "said" | "answer", index: number, message: ChatMessage | null) =>
      change.mutateAsync(() => editThread(id, { version: version(), turn_id: turn.id, side, index, message })),
    undo: () => change.mutate(() => undoThread(id, version())),
    redo: () => change.mutate(() => redoThread(id, version())),
    stop: (turn: string) => apart.mutate(() => stopTurn(turn)),
    branch: (turn: Turn) => board.mutate(() => copyThread(id, { through: turn.id })),
    duplicate: () => board.mutate(() => copyThread(id, {})),
    remove: () => board.mutateAsync(() => deleteThread(id)),
    busy: change.isPending || apart.isPending || board.isPending,
    error: change.error ?? apart.error ?? board.error,
  };
}

/** What is said again. A conversation goes on with the inputs that its thread has now. */
async function againOf(turn: Turn, before: Turn | null): Promise<Omit<TurnRequest, "version">> {
  const { said, inputs } = turn.truncated ? await getTurn(turn.id) : turn;
  return { messages: said, ...(inputs && !said.length ? { inputs } : {}), after: before?.id ?? "" };
}

/** An error that the page shows already. */
function shown(): void {}

export type ThreadActions = ReturnType<typeof useThreadActions>;

function currentVersion(queries: QueryClient, thread: ThreadHead): number {
  return queries.getQueryData(threadQuery(thread.id).queryKey)?.version ?? thread.version;
}

/** Send a turn, show it at once, and follow its answer. A request without anything runs the first draft. */
async function startTurn(
  queries: QueryClient,
  thread: ThreadHead,
  request: TurnRequest,
  draft?: Turn,
): Promise<string> {
  const { turn, version, response } = await postTurn(thread.id, request);
  if (!turn) throw new ApiError(response.status, "The server did not say which turn it started. Load the page again.");
  const shown = { ...startedTurn(thread, turn, request), ...(draft ? { said: draft.said, inputs: draft.inputs } : {}) };
  insertStarted(queries, thread.id, shown, version, { after: request.after, replaces: draft?.id });
  if (request.run === false) void response.body?.cancel();
  else follow(turn, () => void refreshThread(queries, thread.id), response);
  return turn;
}

const ASKED_EVERY = 250;

async function runDrafts(queries: QueryClient, thread: ThreadHead, count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const found = await queries.fetchQuery({ ...threadQuery(thread.id), staleTime: 0 });
    const draft = found.turns.find((turn) => turn.status === "draft");
    if (!draft || found.running !== null) return;
    const started = await startTurn(queries, found, { version: found.version }, draft);
    if (left > 1 && (await ended(queries, thread.id, started)) !== "done") return;
  }
}

/** How a turn of a thread ended. */
async function ended(queries: QueryClient, thread: string, turn: string): Promise<string | undefined> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY));
    const found = await queries.fetchQuery({ ...threadQuery(thread), staleTime: 0 });
    const status = found.turns.find((one) => one.id === turn)?.status;
    if (status !== "running") return status;
  }
}

function startedTurn(thread: ThreadHead, id: string, request: TurnRequest): Turn {
  return {
    id,
    thread_id: thread.id,
    status: request.run === false ? "draft" : "running",
    said: request.messages ?? [],
    inputs: request.inputs ?? null,
    sent: request.run !== false,
    outputs: null,
    replies: [],
    tool_calls: [],
    text: "",
    edited: false,
    error: null,
    seconds: null,
    prompt_tokens: null,
    completion_tokens: null,
    cost: null,
    started_at: new Date().toISOString(),
    trace_id: null,
    session_id: null,
    address: thread.address,
    parameters: thread.parameters,
    treated_as: thread.treat_as,
    size: 0,
    truncated: false,
  };
}

/** All messages of a conversation up to a turn, as the workflow got them. */
export function messagesUntil(turns: readonly Turn[], last: Turn): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const turn of turns) {
    messages.push(...turn.said);
    if (turn.id === last.id) break;
    messages.push(...turn.replies);
  }
  return messages;
}
