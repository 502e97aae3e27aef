import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api, got } from "../../api/client";
import { Dialog } from "../../components/Dialog";
import { ErrorNote } from "../../components/ErrorNote";
import { counted } from "../../testsets/data";
import { type Board, refreshBoard } from "../api";
import { loadTestSet } from "./data";

interface LoadTestSetProps {
  board: Board;
  open: boolean;
  onClose: () => void;
}

/** Puts the rows of a test set on the board: a thread for each row and column. */
export function LoadTestSet({ board, open, onClose }: LoadTestSetProps) {
  return (
    <Dialog title="Load a test set" open={open} onClose={onClose}>
      <Form board={board} onClose={onClose} />
    </Dialog>
  );
}

function Form({ board, onClose }: Omit<LoadTestSetProps, "open">) {
  const [name, setName] = useState("");
  const ids = { name: useId(), known: useId() };
  const queries = useQueryClient();
  const known = useQuery({
    queryKey: ["test-sets", "choice", name],
    queryFn: () => got(api.GET("/api/v1/test-sets", { params: { query: { q: name, limit: 20 } } })),
  });
  const sets = known.data?.items ?? [];
  const chosen = sets.find((set) => set.name === name);
  const load = useMutation({
    mutationFn: () => loadTestSet(board.id, name, chosen?.version ?? null),
    onSuccess: onClose,
    onSettled: () => refreshBoard(queries, board.id),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        load.mutate();
      }}
    >
      <div className="field">
        <label htmlFor={ids.name}>Test set</label>
        <input
          id={ids.name}
          // biome-ignore lint/a11y/noAutofocus: The dialog has one field.
          autoFocus
          list={ids.known}
          value={name}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id={ids.known}>
          {sets.map((set) => (
            <option key={set.id} value={set.name} />
          ))}
        </datalist>
        <span className="hint">
          {chosen
            ? `${counted(chosen.row_count, "row")}, each of which becomes a thread for every column.`
            : "Every row becomes a thread for every column; chats become conversations."}
        </span>
      </div>
      {known.data && !sets.length && !name && (
        <p>
          There are no test sets yet. <Link to="/test-sets">Import one</Link>
        </p>
      )}
      {load.error && <ErrorNote error={load.error} />}
      <div className="dialog-buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="main" disabled={!name || load.isPending}>
          {load.isPending ? "Loading …" : "Load the rows"}
        </button>
      </div>
    </form>
  );
}
