import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { useKeys } from "../keys";
import { NameDialog } from "./ColumnHead";
import { counted, type Saved, saveEdits, type TestSet, testSetQuery } from "./data";
import {
  changeCount,
  type Draft,
  NOTHING,
  nameProblem,
  type ShownColumn,
  toEdits,
  withColumn,
  withExtra,
} from "./draft";

/** Takes the last change back that is not saved. */
export interface Undo {
  /** All changes were dropped. */
  dropped: boolean;
  run: () => void;
}

interface SaveBarProps {
  set: TestSet;
  latest: TestSet;
  draft: Draft;
  columns: readonly ShownColumn[];
  onDraft: (draft: Draft) => void;
  undo: Undo | undefined;
  onSaved: (saved: Saved) => void;
  /** The changes with those of the cell that is edited; null if what is typed there makes no sense yet. */
  settle: () => Draft | null;
}

/** The saving of a test set. */
export const savingKey = (set: TestSet) => ["save test set", set.id];

/** Saves changes as a new version, or drops them. */
export function SaveBar({ set, latest, draft, columns, onDraft, undo, onSaved, settle }: SaveBarProps) {
  const [note, setNote] = useState("");
  const [adding, setAdding] = useState(false);
  const count = changeCount(draft);
  const queries = useQueryClient();
  const save = useMutation({
    mutationKey: savingKey(set),
    mutationFn: ({ base, changes }: { base: number; changes: Draft }) =>
      saveEdits(set.name, base, toEdits(changes), note),
    onSuccess: (saved) => {
      setNote("");
      onSaved(saved);
    },
    // Somebody else may have saved: the page shows it then.
    onError: () => queries.invalidateQueries({ queryKey: testSetQuery(set.name).queryKey }),
  });
  const behind = latest.version > set.version;
  const conflict = save.error instanceof ApiError && save.error.status === 409;
  const saveNow = (base = set.version) => {
    if (save.isPending) return;
    const changes = settle();
    if (changes && changeCount(changes)) save.mutate({ base, changes });
  };
  useKeys([
    { keys: "Mod+s", does: "Save the changes", inFields: true, run: () => saveNow() },
    ...(undo ? [{ keys: "Mod+z", does: "Take the last change back", run: undo.run }] : []),
  ]);
  return (
    <div className="save-bar">
      <button
        type="button"
        className="small"
        onClick={() => onDraft(withExtra(draft, { kind: "insert", row: null, before: set.row_count }))}
      >
        Add a row
      </button>
      <button type="button" className="small" onClick={() => setAdding(true)}>
        Add a column
      </button>
      {undo && (
        <button type="button" className="small" disabled={save.isPending} onClick={undo.run}>
          {undo.dropped ? "Bring the changes back" : "Take the last change back"}
        </button>
      )}
      {count > 0 && (
        <>
          <span className="changes">{counted(count, "change")}, not saved</span>
          <input
            aria-label="Note for the new version"
            placeholder="What changed (a note)"
            value={note}
            maxLength={2000}
            onChange={(event) => setNote(event.target.value)}
          />
          <button type="button" className="main small" disabled={save.isPending} onClick={() => saveNow()}>
            Save as a new version
          </button>
          <button type="button" className="small" onClick={() => onDraft(NOTHING)}>
            Drop the changes
          </button>
        </>
      )}
      {behind && count > 0 && (
        <p className="warning-note">
          Version {latest.version} was saved in the meantime.{" "}
          {latest.row_count === set.row_count
            ? "Saving puts your changes on top of it: rows are matched by their number."
            : "It has another number of rows, so your changes cannot be put on top of it. Drop them and repeat them there."}
          {latest.row_count === set.row_count && (
            <button type="button" className="small" onClick={() => saveNow(latest.version)}>
              Save on top of version {latest.version}
            </button>
          )}
        </p>
      )}
      {save.error && !(conflict && behind) && <ErrorNote error={save.error} />}
      <NameDialog
        title="Add a column"
        open={adding}
        start=""
        problem={(name) =>
          nameProblem(
            draft,
            columns.map((column) => column.name),
            name,
          )
        }
        onClose={() => setAdding(false)}
        onName={(name) => onDraft(withColumn(draft, { kind: "add_column", name, value: "" }))}
      />
    </div>
  );
}
