import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useEvents, useTogether } from "../api/events";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { SearchField } from "../components/SearchField";
import { changed } from "../search";
import { dateWords } from "../time";
import { type BoardSummary, boardsQuery, deleteBoard, restoreBoard } from "./api";
import "./board.css";

/** All boards, the one that was changed last first. */
export function BoardsPage() {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/boards" });
  const { q = "", deleted } = useSearch({ from: "/boards" });
  const list = useInfiniteQuery(boardsQuery(q, deleted === "yes"));
  const [removed, setRemoved] = useState<BoardSummary | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ["boards"] });
  const change = useMutation({ mutationFn: (act: () => Promise<unknown>) => act(), onSettled: refresh });
  const refreshSoon = useTogether(() => void refresh());
  useEvents((event) => {
    if (event.kind === "board" || event.kind === "thread" || event.kind === "reconnected") refreshSoon();
  });
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  const remove = (board: BoardSummary) => {
    change.mutate(() => deleteBoard(board.id));
    setRemoved(board);
  };
  const restore = (board: BoardSummary) => {
    change.mutate(() => restoreBoard(board.id));
    setRemoved(null);
  };
  const columns: Column<BoardSummary>[] = [
    {
      id: "title",
      name: "Title",
      cell: (board) => (
        <Link to="/boards/$board" params={{ board: board.id }} tabIndex={-1}>
          {board.title || "Untitled board"}
        </Link>
      ),
    },
    { id: "workflows", name: "Workflows", cell: (board) => board.workflows.join(", ") },
    {
      id: "threads",
      name: "Conversations",
      number: true,
      wide: true,
      cell: (board) => board.rows.toLocaleString("en"),
    },
    { id: "columns", name: "Variants", number: true, wide: true, cell: (board) => board.columns },
    { id: "updated", name: "Changed", wide: true, cell: (board) => dateWords(board.updated_at) },
    {
      id: "actions",
      name: <span className="hidden-label">Actions</span>,
      cell: (board) =>
        board.deleted_at ? (
          <button type="button" className="small" onClick={() => restore(board)}>
            Restore
          </button>
        ) : (
          <button
            type="button"
            className="small plain"
            aria-label={`Delete ${board.title}`}
            onClick={() => remove(board)}
          >
            Delete
          </button>
        ),
    },
  ];
  return (
    <Page
      title="Boards"
      actions={
        <Link to="/workflows" className="button main">
          New board
        </Link>
      }
    >
      <div className="tools">
        <SearchField
          value={q}
          label="Find by title"
          onChange={(words) => void navigate({ search: (old) => changed(old, "q", words), replace: true })}
        />
        <label>
          <input
            type="checkbox"
            checked={deleted === "yes"}
            onChange={(event) => {
              const next = event.target.checked ? ("yes" as const) : undefined;
              void navigate({ search: (old) => changed(old, "deleted", next) });
            }}
          />
          Deleted ones
        </label>
      </div>
      {removed && (
        <div className="undo-note" role="status">
          “{removed.title || "Untitled board"}” was deleted.
          <button type="button" className="small" onClick={() => restore(removed)}>
            Undo
          </button>
        </div>
      )}
      {(list.error ?? change.error) && (
        <ErrorNote error={list.error ?? change.error} onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading what="the boards" />}
      {list.data && !rows.length && <NoBoards searched={q !== ""} deleted={deleted === "yes"} />}
      {rows.length > 0 && (
        <DataTable
          label="Boards"
          columns={columns}
          rows={rows}
          keyOf={(board) => board.id}
          onOpen={(board) => void navigate({ to: "/boards/$board", params: { board: board.id } })}
          onEnd={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
        />
      )}
    </Page>
  );
}

function NoBoards({ searched, deleted }: { searched: boolean; deleted: boolean }) {
  if (searched) return <EmptyState title="No board has this in its title." />;
  if (deleted) return <EmptyState title="No boards were deleted." />;
  return (
    <EmptyState title="There are no boards yet.">
      <Link to="/workflows">Pick a workflow</Link> to talk to: it opens a board.
    </EmptyState>
  );
}
