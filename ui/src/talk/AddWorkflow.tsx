import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { addWorkflow, type Workflow } from "./api";

/** Adds the workflow at a URL. */
export function AddWorkflow({ onAdded }: { onAdded: () => void }) {
  const [address, setAddress] = useState("");
  const add = useMutation({
    mutationFn: () => addWorkflow(address.trim()),
    onSuccess: () => {
      setAddress("");
      onAdded();
    },
  });
  return (
    <form
      className="add-workflow"
      onSubmit={(event) => {
        event.preventDefault();
        if (address.trim()) add.mutate();
      }}
    >
      <div className="field">
        <label htmlFor="workflow-url">Add a workflow by its URL</label>
        <div className="field-row">
          <input
            id="workflow-url"
            inputMode="url"
            autoComplete="off"
            placeholder="http://127.0.0.1:8000"
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
          <button type="submit" disabled={!address.trim() || add.isPending}>
            {add.isPending ? "Looking …" : "Add"}
          </button>
        </div>
      </div>
      {add.error && <ErrorNote error={add.error} />}
      {add.data && !add.isPending && (
        <p className="quiet" role="status">
          Added {addedWords(add.data)}: it stands under Served by URL.
        </p>
      )}
    </form>
  );
}

function addedWords({ name, is_chat, error }: Workflow): string {
  return error === null ? `${name}, a ${is_chat ? "chat" : "completion"} workflow` : `${name}, which cannot be reached`;
}
