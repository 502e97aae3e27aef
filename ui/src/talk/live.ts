/** Turns that run: followed as UI message streams, by the AI SDK's chat. */
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { API, fetchOrExplain } from "../api/client";
import { withStream } from "../api/connections";

const FOLLOWED_ANEW = 1000;

const followed = new Map<string, Chat<UIMessage>>();
/** Those that are followed, and those that wait for an answer whether a connection is free. */
const wanted = new Set<string>();
interface Before {
  message: UIMessage | undefined;
  error: Error | undefined;
}

/** What was shown of turns whose connection has ended: while the server is away, it stays in the page. */
const shown = new Map<string, Before>();
const MOST_SHOWN = 20;
const watchers = new Set<() => void>();

function changed(): void {
  for (const watcher of watchers) watcher();
}

/** Told when a turn begins or ends to be followed. */
export function watchLive(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The chat of a turn that is followed; null if it is not, or has ended. */
export function chatOf(turn: string): Chat<UIMessage> | null {
  return followed.get(turn) ?? null;
}

/** What was shown of a turn before its connection ended, and why it ended. */
export function shownBefore(turn: string): Before | undefined {
  return shown.get(turn);
}

function keepShown(turn: string, { messages, error }: Chat<UIMessage>): void {
  const message = messages.at(-1) ?? shown.get(turn)?.message;
  shown.delete(turn);
  shown.set(turn, { message, error });
  for (const oldest of [...shown.keys()].slice(0, -MOST_SHOWN)) shown.delete(oldest);
}

/** Follow a turn from its beginning. Without a free connection nothing happens: the page asks now and then instead. */
export function follow(turn: string, onEnd: () => void, response?: Response): void {
  if (wanted.has(turn)) return;
  wanted.add(turn);
  void withStream(() => show(turn, onEnd, response)).then((free) => {
    if (free) return;
    wanted.delete(turn);
    // The turn goes on without this connection.
    void response?.body?.cancel();
  });
}

async function show(turn: string, onEnd: () => void, response?: Response): Promise<void> {
  if (!wanted.has(turn)) return;
  const open = (signal: AbortSignal | null | undefined) =>
    response
      ? Promise.resolve(response)
      : fetchOrExplain(`${API}/turns/${encodeURIComponent(turn)}/stream`, { signal: signal ?? null });
  const transport = new DefaultChatTransport<UIMessage>({ fetch: (_, init) => open(init?.signal) });
  const chat = new Chat<UIMessage>({ id: turn, transport });
  followed.set(turn, chat);
  changed();
  try {
    await chat.resumeStream();
  } finally {
    keepShown(turn, chat);
    changed();
    onEnd();
    // A turn that still runs then is followed anew by whoever shows it: its connection broke, or the server is back.
    setTimeout(() => {
      if (followed.get(turn) === chat) leave(turn);
      changed();
    }, FOLLOWED_ANEW);
  }
}

/** Stop to follow; the turn itself goes on. */
export function leave(turn: string): void {
  const chat = followed.get(turn);
  followed.delete(turn);
  wanted.delete(turn);
  if (chat) void chat.stop();
}

/** Send a request for a turn: its id, the thread's new version, and the stream of its answer. */
export async function postTurn(
  thread: string,
  body: object,
): Promise<{ turn: string; version: number; response: Response }> {
  const response = await fetchOrExplain(`${API}/threads/${encodeURIComponent(thread)}/turns`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const turn = response.headers.get("x-turn-id") ?? "";
  return { turn, version: Number(response.headers.get("x-thread-version") ?? 0), response };
}
