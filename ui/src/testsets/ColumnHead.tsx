import { useId, useState } from "react";
import { Dialog } from "../components/Dialog";
import { Menu, MenuItem } from "../components/Menu";
import type { TestSet } from "./data";
import { type Draft, nameProblem, type ShownColumn, withColumn } from "./draft";

interface ColumnHeadProps {
  set: TestSet;
  column: ShownColumn;
  draft: Draft;
  /** null: the version is only looked at. */
  onDraft: ((draft: Draft) => void) | null;
}

const ROLES = { input: "input", expected: "expected output", evaluators: "evaluators" } as const;

/** The name of a column, what it holds, and what can be done with it. */
export function ColumnHead({ set, column, draft, onDraft }: ColumnHeadProps) {
  const [renaming, setRenaming] = useState(false);
  const known = set.columns.find((one) => one.name === column.key);
  return (
    <div className="column-head">
      <span>
        <strong>{column.name}</strong>{" "}
        <span className="quiet">
          {known && !column.isNew ? known.kind : "new"}
          {known?.role && known.role !== "input" && `, ${ROLES[known.role]}`}
        </span>
      </span>
      {onDraft && (
        <>
          <Menu label={`Column ${column.name}`} trigger="⋯" plain small>
            <MenuItem onSelect={() => setRenaming(true)}>Rename</MenuItem>
            <MenuItem onSelect={() => onDraft(withColumn(draft, { kind: "delete_column", column: column.name }))}>
              Delete
            </MenuItem>
          </Menu>
          <NameDialog
            title={`Rename the column ${column.name}`}
            open={renaming}
            start={column.name}
            problem={(name) =>
              nameProblem(
                draft,
                set.columns.map((one) => one.name),
                name,
              )
            }
            onClose={() => setRenaming(false)}
            onName={(name) => onDraft(withColumn(draft, { kind: "rename_column", column: column.name, name }))}
          />
        </>
      )}
    </div>
  );
}

interface NameDialogProps {
  title: string;
  open: boolean;
  start: string;
  problem: (name: string) => string | null;
  onClose: () => void;
  onName: (name: string) => void;
}

/** Asks for the name of a column. */
export function NameDialog({ title, open, start, problem, onClose, onName }: NameDialogProps) {
  const [name, setName] = useState(start);
  const id = useId();
  const wrong = name === start ? null : problem(name);
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong || name === start) return;
          onName(name);
          onClose();
        }}
      >
        <div className="field">
          <label htmlFor={id}>Name</label>
          <input id={id} autoFocus value={name} onChange={(event) => setName(event.target.value)} />
          {wrong && <span className="field-problem">{wrong}</span>}
        </div>
        <div className="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="main" disabled={Boolean(wrong) || name === start}>
            Take this name
          </button>
        </div>
      </form>
    </Dialog>
  );
}
