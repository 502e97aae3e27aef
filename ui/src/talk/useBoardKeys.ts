import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { LATER, useKeys } from "../keys";
import { useThreadChange } from "./actions";
import { redoThread, refreshThread, stopTurn, type Thread, type ThreadHead, threadQuery, undoThread } from "./api";

interface BoardKeys {
  threads: readonly ThreadHead[];
  current: string | null;
  choose: (thread: string) => void;
}

/** The keys of a board: between threads, between turns, and what is done most. */
export function useBoardKeys({ threads, current, choose }: BoardKeys): void {
  const queries = useQueryClient();
  const place = threads.findIndex((thread) => thread.id === current);
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    // On a narrow screen the other thread has to be drawn first.
    if (wanted.current !== null && focusComposer(wanted.current)) wanted.current = null;
  });
  const go = (by: number) => {
    const next = threads[Math.min(threads.length - 1, Math.max(0, place + by))];
    if (!next) return;
    choose(next.id);
    wanted.current = focusComposer(next.id) ? null : next.id;
  };
  const now = () => (current === null ? undefined : queries.getQueryData(threadQuery(current).queryKey));
  const { mutate } = useThreadChange(current ?? "");
  const change = (act: (thread: Thread) => Promise<unknown> | false) =>
    // What is pressed twice is done twice: each looks at what the one before has left.
    mutate(async () => {
      const thread = now();
      if (thread) await act(thread);
    });
  useKeys([
    { keys: ["Enter", "Mod+Enter"], does: "Send what is typed" },
    { keys: "Shift+Enter", does: "Begin a new line" },
    { keys: "c", does: "Type in this thread", run: () => (current !== null && focusComposer(current)) || LATER },
    { keys: ["j", "ArrowDown"], does: "Next turn", run: () => moveTurn(1) },
    { keys: ["k", "ArrowUp"], does: "Turn before", run: () => moveTurn(-1) },
    { keys: ["l", "ArrowRight"], does: "Next thread", run: () => go(1) },
    { keys: ["h", "ArrowLeft"], does: "Thread before", run: () => go(-1) },
    {
      keys: "Mod+Z",
      does: "Undo in this thread",
      run: () => change((thread) => thread.can_undo && undoThread(thread.id, thread.version)),
    },
    {
      keys: "Mod+Shift+Z",
      does: "Redo in this thread",
      run: () => change((thread) => thread.can_redo && redoThread(thread.id, thread.version)),
    },
    {
      keys: "Mod+.",
      does: "Stop the answer of this thread",
      inFields: true,
      run: () => {
        const thread = now();
        const refresh = () => thread && refreshThread(queries, thread.id);
        if (thread?.running) void stopTurn(thread.running).then(refresh, refresh);
      },
    },
  ]);
}

/** Give the focus to where one types in a thread; false if it is not drawn yet. */
function focusComposer(thread: string): boolean {
  const field = document.querySelector<HTMLElement>(`[data-composer="${CSS.escape(thread)}"] textarea`);
  field?.focus();
  return field !== null;
}

/** Move the focus between the turns that are shown. */
function moveTurn(by: number) {
  const turns = [...document.querySelectorAll<HTMLElement>("[data-turn]")];
  if (!turns.length) return LATER;
  const at = turns.findIndex((turn) => turn.contains(document.activeElement));
  const next = at < 0 ? (by > 0 ? turns.at(-1) : turns[0]) : turns[Math.min(turns.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
