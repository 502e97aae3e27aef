import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { EmptyState } from "../components/EmptyState";
import { useNarrow } from "../components/useNarrow";
import { changed } from "../search";
import { type Board, refreshBoard, restoreThread, type ThreadHead } from "./api";
import { Broadcast } from "./Broadcast";
import { rowsOf } from "./rows";
import { ThreadGroup } from "./ThreadGroup";
import { ThreadTabs } from "./ThreadTabs";
import { useBoardKeys } from "./useBoardKeys";

interface ChatBoardProps {
  board: Board;
  threads: readonly ThreadHead[];
  onMore: (() => void) | null;
}

/** The threads of a board side by side. Those of one row are the same conversation over several variants. */
export function ChatBoard({ board, threads, onMore }: ChatBoardProps) {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/boards/$board" });
  const search = useSearch({ from: "/boards/$board" });
  const narrow = useNarrow();
  const [removed, setRemoved] = useState<ThreadHead | null>(null);
  const rows = useMemo(() => rowsOf(threads), [threads]);
  const current = threads.find((thread) => thread.id === search.thread)?.id ?? threads[0]?.id ?? null;
  const choose = (thread: string) => {
    if (thread !== search.thread)
      void navigate({ search: (old) => changed({ ...old, thread }, "turn", undefined), replace: true });
  };
  useBoardKeys({ threads, current, choose });
  const restore = async (thread: ThreadHead) => {
    await restoreThread(thread.id);
    setRemoved(null);
    await refreshBoard(queries, board.id);
  };
  const shown = narrow
    ? rows.flatMap((row) => row.map((head) => [head])).filter(([head]) => head?.id === current)
    : rows;
  return (
    <>
      {removed && (
        <div className="undo-note" role="status">
          The thread was deleted.
          <button type="button" className="small" onClick={() => void restore(removed)}>
            Undo
          </button>
        </div>
      )}
      {!threads.length && (
        <EmptyState title="This board has no threads.">
          Add one with <b>New thread</b>, above.
        </EmptyState>
      )}
      {narrow && threads.length > 1 && <ThreadTabs threads={threads} current={current} onChoose={choose} />}
      <div className="thread-groups">
        {shown.map((heads) => (
          <ThreadGroup
            key={heads[0]?.id}
            heads={heads}
            current={current}
            onFocus={choose}
            turn={heads.some((head) => head.id === search.thread) ? search.turn : undefined}
            onRemoved={setRemoved}
          />
        ))}
        {onMore && (
          <button type="button" className="more-threads" onClick={onMore}>
            Show more threads
          </button>
        )}
      </div>
      {threads.length > 1 && <Broadcast board={board.id} count={onMore ? null : threads.length} />}
    </>
  );
}
