/** What changes elsewhere: other browsers, other processes, running jobs. One connection for all pages of a browser. */
import { useCallback, useEffect, useRef } from "react";
import { API } from "./client";
import { inOnePage } from "./connections";

export interface ThreadChanged {
  kind: "thread";
  id: string;
  board_id: string;
  version: number;
}
export interface BoardChanged {
  kind: "board";
  id: string;
}
export interface TurnChanged {
  kind: "turn";
  id: string;
  thread_id: string;
  status: string;
}
export interface JobChanged {
  kind: "job";
  job: "run" | "evaluation" | "judging";
  id: string;
  name: string;
  finished: number;
  planned: number;
  status: string;
}
export interface NoteChanged {
  kind: "note";
  id: string;
}
/** The connection is back after a break: anything may have changed. */
export interface Reconnected {
  kind: "reconnected";
}

export type PlaygroundEvent = ThreadChanged | BoardChanged | TurnChanged | JobChanged | NoteChanged | Reconnected;
type Listener = (event: PlaygroundEvent) => void;

const KINDS: ReadonlySet<string> = new Set(["thread", "board", "turn", "job", "note"]);
const NAME = "greenroom-events";
const RETRIED = 2000;

const listeners = new Set<Listener>();
let leaving: AbortController | null = null;
/** Events come over one connection to one page of the browser, which tells the others. */
let others: BroadcastChannel | null = null;

export function eventOf(text: string): PlaygroundEvent | null {
  try {
    const value: unknown = JSON.parse(text);
    const known = typeof value === "object" && value !== null && "kind" in value && KINDS.has(String(value.kind));
    return known ? (value as PlaygroundEvent) : null;
  } catch {
    return null;
  }
}

function tell(event: PlaygroundEvent): void {
  for (const listener of [...listeners]) listener(event);
}

function connect(): void {
  leaving = new AbortController();
  if (typeof BroadcastChannel !== "undefined") {
    others = new BroadcastChannel(NAME);
    others.onmessage = (message: MessageEvent<PlaygroundEvent>) => tell(message.data);
  }
  const { signal } = leaving;
  void inOnePage(NAME, signal, (tookOver) => receive(signal, tookOver));
}

function disconnect(): void {
  leaving?.abort();
  others?.close();
  leaving = others = null;
}

/** Receives what changes, for all pages, until the signal ends. After a `gap` anything may have changed. */
function receive(signal: AbortSignal, gap: boolean): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let missed = gap;
    const tellAll = (event: PlaygroundEvent) => {
      tell(event);
      others?.postMessage(event);
    };
    const open = () => {
      if (signal.aborted) return;
      source = new EventSource(`${API}/events`);
      source.onopen = () => {
        if (missed) tellAll({ kind: "reconnected" });
        missed = false;
      };
      source.onerror = () => {
        missed = true;
        // A browser gives up for good after an HTTP error, such as a server that is just starting.
        if (source.readyState === EventSource.CLOSED) setTimeout(open, RETRIED);
      };
      source.onmessage = (message) => {
        const event = eventOf(String(message.data));
        if (event) tellAll(event);
      };
    };
    open();
    signal.addEventListener("abort", () => {
      source.close();
      resolve();
    });
  });
}

/** Listen to changes; gives the function that ends it. */
export function listen(listener: Listener): () => void {
  if (!listeners.size) connect();
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (!listeners.size) disconnect();
  };
}

/** Listen while a component is shown. */
export function useEvents(listener: Listener): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => listen((event) => latest.current(event)), []);
}

const TOGETHER = 400;

/** Does something once for many events that come close together: at once for the first, then for all that came since. */
export function useTogether(act: () => void): () => void {
  const latest = useRef(act);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const asked = useRef(false);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return useCallback(() => {
    if (timer.current !== null) {
      asked.current = true;
      return;
    }
    latest.current();
    const later = () => {
      timer.current = null;
      if (!asked.current) return;
      asked.current = false;
      latest.current();
      timer.current = setTimeout(later, TOGETHER);
    };
    timer.current = setTimeout(later, TOGETHER);
  }, []);
}
