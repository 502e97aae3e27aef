import { useQueries, useQueryClient } from "@tanstack/react-query";
import { memo, useCallback, useEffect, useMemo } from "react";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { VirtualList } from "../components/VirtualList";
import { useThreadActions } from "./actions";
import { type AlignedRow, aligned } from "./alignment";
import { loadEarlier, refreshThread, type Thread, type ThreadHead, type Turn, threadQuery } from "./api";
import { Composer } from "./Composer";
import { ThreadBar } from "./ThreadBar";
import { TurnView } from "./TurnView";
import { shortName, useWorkflow } from "./useWorkflow";
import { SidePanels, usePanels } from "./world/SidePanels";

interface ThreadGroupProps {
  /** The threads of one row: the same conversation over several variants. */
  heads: readonly ThreadHead[];
  /** The thread that keys go to. */
  current: string | null;
  onFocus: (thread: string) => void;
  /** The turn that the address names. */
  turn: string | undefined;
  onRemoved: (thread: ThreadHead) => void;
}

/** Threads beside each other, their turns aligned: a grid whose rows are turns. */
export function ThreadGroup({ heads, current, onFocus, turn, onRemoved }: ThreadGroupProps) {
  const queries = useQueryClient();
  const loaded = useQueries({
    queries: heads.map((head) => threadQuery(head.id)),
    combine: (results) => ({
      threads: results.map((result) => result.data),
      errors: results.map((result) => result.error),
    }),
  });
  const { threads } = loaded;
  const rows = useMemo(() => aligned(threads.map((thread) => turnsIn(thread))), [threads]);
  const show = turn === undefined ? undefined : rows.findIndex((row) => row.cells.some((cell) => cell?.id === turn));
  useEffect(() => {
    // The turn that the address names may come before those that are loaded.
    if (show !== undefined && show < 0) for (const thread of threads) if (thread) void loadEarlier(queries, thread);
  }, [show, threads, queries]);
  const onStart = useCallback(() => {
    for (const thread of threads) if (thread) void loadEarlier(queries, thread);
  }, [threads, queries]);
  const panels = usePanels();
  const columns = { gridTemplateColumns: `repeat(${heads.length}, minmax(0, 1fr))` };
  return (
    <>
      <section className="thread-group" aria-label={heads[0]?.title || `Conversation ${(heads[0]?.row ?? 0) + 1}`}>
        <div className="thread-columns thread-bars" style={columns}>
          {heads.map((head, place) => (
            <ThreadBar
              key={head.id}
              head={threads[place] ?? head}
              active={head.id === current}
              onPanel={(panel) => panels.toggle(head, panel)}
              onRemoved={onRemoved}
            />
          ))}
        </div>
        {loaded.errors.map(
          (error, place) =>
            error && (
              <ErrorNote
                key={heads[place]?.id}
                error={error}
                onRetry={() => void refreshThread(queries, heads[place]?.id ?? "")}
              />
            ),
        )}
        <div className="thread-turns">
          {rows.length ? (
            <VirtualList<AlignedRow>
              items={rows}
              keyOf={(row) => row.key}
              label="Turns"
              estimate={220}
              follow
              show={show}
              onStart={onStart}
              render={(row) => (
                <div className="thread-columns turn-row" style={columns}>
                  {heads.map((head, place) => (
                    <TurnCell key={head.id} thread={threads[place]} turn={row.cells[place] ?? null} />
                  ))}
                </div>
              )}
            />
          ) : (
            <Nothing threads={threads} />
          )}
        </div>
        <div className="thread-columns thread-foot" style={columns}>
          {heads.map((head, place) => (
            <ThreadComposer key={head.id} head={threads[place] ?? head} focus={head.id === current} onFocus={onFocus} />
          ))}
        </div>
      </section>
      <SidePanels heads={heads.map((head, place) => threads[place] ?? head)} panels={panels} />
    </>
  );
}

function turnsIn(thread: Thread | undefined): { turns: readonly Turn[]; before: number } {
  if (!thread) return { turns: [], before: 0 };
  return { turns: thread.turns, before: Math.max(0, thread.turn_count - thread.turns.length) };
}

function Nothing({ threads }: { threads: readonly (Thread | undefined)[] }) {
  if (threads.some((thread) => !thread)) return <Loading what="the conversation" />;
  return <EmptyState title="Nothing was said yet.">Type below; Enter sends.</EmptyState>;
}

function TurnCell({ thread, turn }: { thread: Thread | undefined; turn: Turn | null }) {
  if (!thread || !turn) return <div className="turn-cell" />;
  return <Cell thread={thread} turn={turn} />;
}

// While an answer grows, the list around it is laid out anew: the other turns stay as they are.
const Cell = memo(function Cell({ thread, turn }: { thread: Thread; turn: Turn }) {
  const actions = useThreadActions(thread);
  const workflow = useWorkflow(thread.address);
  const place = thread.turns.findIndex((one) => one.id === turn.id);
  const { before } = turnsIn(thread);
  return (
    <div className="turn-cell">
      <TurnView
        thread={thread.id}
        turn={turn}
        turns={thread.turns}
        actions={actions}
        last={place === thread.turns.length - 1}
        wire={workflow?.interface ?? null}
        number={before + place + 1}
      />
      {actions.error && <ErrorNote error={actions.error} />}
    </div>
  );
});

interface ThreadComposerProps {
  head: ThreadHead;
  focus: boolean;
  onFocus: (thread: string) => void;
}

function ThreadComposer({ head, focus, onFocus }: ThreadComposerProps) {
  const actions = useThreadActions(head);
  const { running } = head;
  return (
    <div className={focus ? "thread-composer current" : "thread-composer"} data-composer={head.id}>
      <Composer
        draft={head.id}
        label={`Message to ${head.title || shortName(head.address)}`}
        placeholder="Message (Enter sends)"
        onFocus={() => onFocus(head.id)}
        onSend={(messages) => actions.send({ messages })}
        onStop={running ? () => actions.stop(running) : undefined}
      />
    </div>
  );
}
