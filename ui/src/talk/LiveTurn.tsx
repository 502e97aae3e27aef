import { useChat } from "@ai-sdk/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { UIMessage } from "ai";
import { useEffect, useSyncExternalStore } from "react";
import { ApiError } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { JsonView } from "../components/JsonView";
import { Message } from "../components/Message";
import { getTurn, refreshThread, type Turn } from "./api";
import { chatOf, follow, shownBefore, watchLive } from "./live";
import { liveView } from "./live_view";

const SHOWN_EVERY = 30;
const ASKED_EVERY = 700;
const TRIED_EVERY = 1500;

/** The answer of a turn while it comes; `thread` shows it. Only this is drawn anew with each piece. */
export function LiveTurn({ turn, thread }: { turn: Turn; thread: string }) {
  const queries = useQueryClient();
  const chat = useSyncExternalStore(watchLive, () => chatOf(turn.id));
  useEffect(() => {
    // Others end and leave their connection, in this page or another one: then this one may be free.
    const begin = () => follow(turn.id, () => void refreshThread(queries, thread));
    begin();
    const unwatch = watchLive(begin);
    const again = setInterval(begin, TRIED_EVERY);
    return () => {
      unwatch();
      clearInterval(again);
    };
  }, [turn.id, thread, queries]);
  return chat ? <Streamed chat={chat} turn={turn.id} /> : <Asked turn={turn} thread={thread} />;
}

function Streamed({ chat, turn }: { chat: NonNullable<ReturnType<typeof chatOf>>; turn: string }) {
  const { messages, error } = useChat({ chat, throttle: SHOWN_EVERY });
  const before = messages.length ? undefined : shownBefore(turn);
  return <Shown message={messages.at(-1) ?? before?.message} error={error ?? before?.error} />;
}

interface ShownProps {
  message: UIMessage | undefined;
  error: Error | null | undefined;
}

/** The answer so far, and why it does not go on. */
function Shown({ message, error }: ShownProps) {
  const view = liveView(message);
  const last = view.messages.at(-1);
  return (
    <>
      {view.messages.map((one) => (
        <Message key={one.index} message={one.message} calls={one.calls} running={one === last && !error} />
      ))}
      {view.outputs.map((output, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: Outputs come in order and stay.
        <JsonView key={place} value={output} />
      ))}
      {!view.messages.length && !view.outputs.length && !error && <Waiting />}
      {error instanceof ApiError && <ErrorNote error={error} />}
    </>
  );
}

/** Without a free connection: the text so far, asked for now and then. */
function Asked({ turn, thread }: { turn: Turn; thread: string }) {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["running turn", turn.id],
    queryFn: ({ signal }) => getTurn(turn.id, signal),
    initialData: turn,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ASKED_EVERY,
  });
  const ended = data.status !== "running";
  useEffect(() => {
    if (ended) void refreshThread(queries, thread);
  }, [ended, queries, thread]);
  const text = data.text || turn.text;
  const before = shownBefore(turn.id);
  if (before && (error || !text)) return <Shown message={before.message} error={error ?? before.error} />;
  return text ? <Message message={{ role: "assistant", content: text }} running /> : <Waiting />;
}

function Waiting() {
  return (
    <p className="quiet waiting" role="status">
      Waiting for the answer …
    </p>
  );
}
