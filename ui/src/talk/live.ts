/** Turns that run: followed as UI message streams, by the AI SDK's chat. */
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { API, fetchOrExplain } from "../api/client";

/** A browser opens six connections to a server. Three may be streams: events and other requests need the others. */
const MOST_STREAMS = 3;

const FOLLOWED_ANEW = 1000;

interface Live {
  chat: Chat<UIMessage>;
  ended: boolean;
}

const followed = new Map<string, Live>();
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
  return followed.get(turn)?.chat ?? null;
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

function streams(): number {
  return [...followed.values()].filter((live) => !live.ended).length;
}

/** Follow a turn from its beginning. Without a free connection nothing happens: the page asks now and then instead. */
export function follow(turn: string, onEnd: () => void, response?: Response): void {
  if (followed.has(turn)) return;
  if (streams() >= MOST_STREAMS) {
    // The turn goes on without this connection.
    void response?.body?.cancel();
    return;
  }
  const open = (signal: AbortSignal | null | undefined) =>
    response
      ? Promise.resolve(response)
      : fetchOrExplain(`${API}/turns/${encodeURIComponent(turn)}/stream`, { signal: signal ?? null });
  const transport = new DefaultChatTransport<UIMessage>({ fetch: (_, init) => open(init?.signal) });
  const live: Live = { chat: new Chat<UIMessage>({ id: turn, transport }), ended: false };
  followed.set(turn, live);
  changed();
  void live.chat.resumeStream().finally(() => {
    live.ended = true;
    keepShown(turn, live.chat);
    changed();
    onEnd();
    // A turn that still runs then is followed anew by whoever shows it: its connection broke, or the server is back.
    setTimeout(() => {
      if (followed.get(turn) === live) followed.delete(turn);
      changed();
    }, FOLLOWED_ANEW);
  });
}

/** Stop to follow, as when the page is left; the turn itself goes on. */
export function leave(turn: string): void {
  const live = followed.get(turn);
  followed.delete(turn);
  if (live && !live.ended) void live.chat.stop();
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
