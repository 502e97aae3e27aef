import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, got } from "../../api/client";
import { useEvents, useTogether } from "../../api/events";
import { refreshBoard, runScope, stopTurn } from "../api";
import { runBoard, runningTurns, type Started } from "./data";

type Skipped = NonNullable<Started["skipped"]>;

const STOPS_AT_ONCE = 4;
const CHECK = 5_000;
const CHECKED = 10;

export interface RunAll {
  run: (threads: string[] | null) => void;
  stop: () => void;
  /** How many turns were started and how many of them ended; null before anything was started. */
  progress: { started: number; ended: number } | null;
  /** Threads in which nothing was started, and why. */
  skipped: Skipped;
  /** Rows are being started. */
  starting: boolean;
  error: Error | null;
}

/** The turns that were started here. Events tell of them before the answer to the request does. */
class Tally {
  private readonly open = new Set<string>();
  private readonly ended = new Set<string>();

  begin(): void {
    if (!this.open.size) this.ended.clear();
  }
  started(turn: string): void {
    if (!this.ended.has(turn)) this.open.add(turn);
  }
  end(turn: string): boolean {
    if (!this.open.delete(turn)) return false;
    this.ended.add(turn);
    return true;
  }
  get running(): string[] {
    return [...this.open];
  }
  get progress(): RunAll["progress"] {
    return { started: this.open.size + this.ended.size, ended: this.ended.size };
  }
}

/** Without an answer the progress of others is not shown; the rows tell themselves how they stand. */
function missed(): void {}

/** Runs rows of a board and follows how far they are. */
export function useRunAll(board: string): RunAll {
  const queries = useQueryClient();
  const tally = useRef(new Tally());
  const threads = useRef(new Set<string>());
  const pending = useRef(false);
  const [progress, setProgress] = useState<RunAll["progress"]>(null);
  const [skipped, setSkipped] = useState<Skipped>([]);
  const show = () => setProgress(tally.current.progress);
  const run = useMutation({
    scope: { id: runScope(board) },
    mutationFn: (wanted: string[] | null) => runBoard(board, wanted),
    onMutate: () => {
      tally.current.begin();
      pending.current = true;
    },
    onSuccess: (answer) => {
      for (const { turn_id } of answer.started) tally.current.started(turn_id);
      setSkipped(answer.skipped ?? []);
      show();
    },
    onSettled: () => {
      pending.current = false;
      threads.current.clear();
      return refreshBoard(queries, board);
    },
  });
  // Turns that run already, because the page was loaded again, or that another page started.
  const look = useTogether(() => {
    void runningTurns(board).then(({ started }) => {
      if (!started.length) return;
      tally.current.begin();
      for (const { turn_id } of started) tally.current.started(turn_id);
      show();
    }, missed);
  });
  useEffect(() => look(), [look]);
  useEvents((event) => {
    if (event.kind === "thread" && event.board_id === board) {
      if (pending.current) threads.current.add(event.id);
      else look();
    }
    if (event.kind === "reconnected") look();
    if (event.kind !== "turn") return;
    if (event.status === "running") {
      if (!threads.current.has(event.thread_id)) return;
      tally.current.started(event.id);
    } else if (!tally.current.end(event.id)) return;
    show();
    if (!tally.current.running.length) void refreshBoard(queries, board);
  });
  const open = progress !== null && progress.ended < progress.started;
  useEffect(() => {
    if (!open) return;
    // An event may get lost with its connection: some turns are looked at now and then.
    const check = async () => {
      for (const turn of tally.current.running.slice(0, CHECKED)) {
        const found = await got(api.GET("/api/v1/turns/{turn_id}", { params: { path: { turn_id: turn } } }));
        if (found.status !== "running" && tally.current.end(turn)) setProgress(tally.current.progress);
      }
    };
    // A server that is away is asked again the next time.
    const timer = setInterval(() => void check().catch(missed), CHECK);
    return () => clearInterval(timer);
  }, [open]);
  const stop = useMutation({
    mutationFn: async () => {
      const turns = tally.current.running;
      const worker = async () => {
        for (let turn = turns.pop(); turn !== undefined; turn = turns.pop()) {
          await stopTurn(turn);
          tally.current.end(turn);
        }
      };
      await Promise.all(Array.from({ length: STOPS_AT_ONCE }, worker));
    },
    onSettled: () => {
      show();
      return refreshBoard(queries, board);
    },
  });
  return {
    run: (wanted) => run.mutate(wanted),
    stop: () => stop.mutate(),
    progress,
    skipped,
    starting: run.isPending,
    error: run.error ?? stop.error,
  };
}
