import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Dialog } from "../components/Dialog";
import { ErrorNote } from "../components/ErrorNote";
import { SchemaForm } from "../components/SchemaForm";
import { isObject } from "../json";
import { changed } from "../search";
import { addColumn, addThread, type Board, refreshBoard, workflowsQuery } from "./api";
import { parametersSchema } from "./ThreadSettings";
import { useWorkflow } from "./useWorkflow";

interface NewThreadProps {
  board: Board;
  /** A thread of its own, or one more variant of all conversations. */
  what: "thread" | "column" | null;
  onClose: () => void;
}

export function NewThread({ board, what, onClose }: NewThreadProps) {
  const title = what === "column" ? "Compare with another variant" : "New thread";
  return (
    <Dialog title={title} open={what !== null} onClose={onClose}>
      {what && <Form board={board} what={what} onClose={onClose} />}
    </Dialog>
  );
}

function Form({ board, what, onClose }: NewThreadProps & { what: "thread" | "column" }) {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/boards/$board" });
  const list = useQuery(workflowsQuery);
  const [chosen, setChosen] = useState<string | null>(null);
  const [parameters, setParameters] = useState<unknown>(undefined);
  const address = chosen ?? board.columns[0]?.address ?? list.data?.items[0]?.address ?? "";
  const workflow = useWorkflow(address);
  const add = useMutation({
    mutationFn: async () => {
      const given = isObject(parameters) ? { parameters } : {};
      if (what === "column") {
        await addColumn(board.id, { address, ...given });
        return;
      }
      const thread = await addThread(board.id, { address, ...given });
      void navigate({ search: (old) => changed({ ...old, thread: thread.id }, "turn", undefined), replace: true });
    },
    onSuccess: onClose,
    onSettled: () => refreshBoard(queries, board.id),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      {what === "column" && (
        <p className="quiet">Every conversation gets a thread with this variant beside it; what was said is copied.</p>
      )}
      <div className="field">
        <label htmlFor="new-workflow">Workflow</label>
        <select id="new-workflow" value={address} onChange={(event) => setChosen(event.target.value)}>
          {address && !list.data?.items.some((one) => one.address === address) && (
            <option value={address}>{address}</option>
          )}
          {list.data?.items.map((one) => (
            <option key={one.address} value={one.address}>
              {one.name}
              {one.error ? " (cannot be reached)" : ""}
            </option>
          ))}
        </select>
      </div>
      <h3>Parameters</h3>
      <SchemaForm
        key={address}
        label="Parameters"
        schema={parametersSchema(workflow?.schemas.parameters, workflow?.parameters)}
        value={parameters}
        onChange={setParameters}
      />
      {add.error && <ErrorNote error={add.error} />}
      <div className="dialog-buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="main" disabled={!address || add.isPending}>
          {what === "column" ? "Compare" : "Add the thread"}
        </button>
      </div>
    </form>
  );
}
