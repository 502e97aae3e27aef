import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { failure, isGone } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { Menu, MenuItem } from "../components/Menu";
import { Page } from "../components/Page";
import { useNarrow } from "../components/useNarrow";
import { changed } from "../search";
import { type Board, boardQuery, changeBoard, refreshBoard, restoreBoard, runScope, type TreatAs } from "./api";
import { ChatBoard } from "./ChatBoard";
import { NewThread } from "./NewThread";
import { TitleField } from "./TitleField";
import { useBoardEvents } from "./useBoardEvents";
import { useWorkflow } from "./useWorkflow";
import "./board.css";

const CompletionBoard = lazy(() =>
  import("./completion/CompletionBoard").then((found) => ({ default: found.CompletionBoard })),
);

/** A board: conversations side by side, or the same board as a table of inputs and outputs. */
export function BoardPage() {
  const { board: id } = useParams({ from: "/boards/$board" });
  const found = useInfiniteQuery(boardQuery(id));
  useBoardEvents(id);
  const board = found.data?.pages[0];
  if (!board || failure(found)) {
    return (
      <Page title="Board">
        {isGone(found) ? (
          <Gone what="board" name={board?.title || "Board"}>
            <Link to="/boards">Choose another board</Link>
          </Gone>
        ) : found.error ? (
          <ErrorNote error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <Loading what="the board" />
        )}
      </Page>
    );
  }
  const threads = found.data?.pages.flatMap((page) => page.threads) ?? [];
  const onMore = found.hasNextPage ? () => void found.fetchNextPage() : null;
  return <OpenBoard board={board} threads={threads} onMore={onMore} />;
}

interface OpenBoardProps {
  board: Board;
  threads: Board["threads"];
  onMore: (() => void) | null;
}

function OpenBoard({ board, threads, onMore }: OpenBoardProps) {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/boards/$board" });
  const search = useSearch({ from: "/boards/$board" });
  const [adding, setAdding] = useState<"thread" | "column" | null>(null);
  const narrow = useNarrow();
  const first = board.columns[0];
  const workflow = useWorkflow(first?.address ?? "");
  // Of a workflow that is not there any more, its last turn tells what it was.
  const before = threads.find((head) => head.last?.treated_as)?.last?.treated_as ?? "chat";
  const own: TreatAs = workflow && !workflow.error ? (workflow.is_chat ? "chat" : "completion") : before;
  const change = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => refreshBoard(queries, board.id),
  });
  const treat = useMutation({
    scope: { id: runScope(board.id) },
    // What the workflow says of itself is no override.
    mutationFn: (as: TreatAs) => changeBoard(board.id, { treat_as: as === own ? null : as }),
    onSettled: () => refreshBoard(queries, board.id),
  });
  const shown = treat.isPending ? treat.variables : (search.as ?? board.treat_as ?? own);
  const treatAs = (as: TreatAs) => {
    void navigate({ search: (old) => changed(old, "as", undefined), replace: true });
    treat.mutate(as);
  };
  return (
    <Page
      title={board.title || "Board"}
      heading={
        <TitleField value={board.title} onSave={(title) => change.mutate(() => changeBoard(board.id, { title }))} />
      }
      fill
      above={<Link to="/boards">Boards</Link>}
      actions={
        <>
          <fieldset className="switch">
            <legend className="hidden-label">Interface</legend>
            {(["chat", "completion"] as const).map((as) => (
              <button key={as} type="button" aria-pressed={shown === as} onClick={() => treatAs(as)}>
                {as === "chat" ? "Chat" : "Completion"}
              </button>
            ))}
          </fieldset>
          {workflow && shown !== own && (
            <span className="badge limit" title={workflow.decided_by ?? ""}>
              You chose this; the workflow says {own}
            </span>
          )}
          {narrow ? (
            <Menu label="Add to this board" trigger="Add">
              <MenuItem onSelect={() => setAdding("thread")}>New thread</MenuItem>
              <MenuItem onSelect={() => setAdding("column")}>Compare with</MenuItem>
            </Menu>
          ) : (
            <>
              <button type="button" onClick={() => setAdding("thread")}>
                New thread
              </button>
              <button
                type="button"
                onClick={() => setAdding("column")}
                title="The same conversations over one more workflow or parameter set"
              >
                Compare with
              </button>
            </>
          )}
        </>
      }
    >
      {board.deleted_at && (
        <div className="undo-note" role="status">
          This board was deleted.
          <button type="button" className="small" onClick={() => change.mutate(() => restoreBoard(board.id))}>
            Restore it
          </button>
        </div>
      )}
      {change.error && <ErrorNote error={change.error} />}
      {treat.error && <ErrorNote error={treat.error} />}
      {shown === "chat" ? (
        <ChatBoard board={board} threads={threads} onMore={onMore} />
      ) : (
        <Suspense fallback={<Loading what="the table" />}>
          <CompletionBoard board={board.id} />
        </Suspense>
      )}
      <NewThread board={board} what={adding} onClose={() => setAdding(null)} />
    </Page>
  );
}
