import { useId, useState } from "react";
import { Dialog } from "../components/Dialog";
import { Menu, MenuItem } from "../components/Menu";
import type { TestSet } from "./data";
import { type Draft, type Item, moved, movedAway, toggledDelete, withExtra, withoutExtra } from "./draft";

interface RowMenuProps {
  item: Item;
  set: TestSet;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** New rows are not shown in a filtered table. */
  filtered: boolean;
}

/** What can be done with a row. */
export function RowMenu({ item, set, draft, onDraft, filtered }: RowMenuProps) {
  const [moving, setMoving] = useState(false);
  if (item.kind === "extra") {
    return (
      <button
        type="button"
        className="small plain"
        aria-label="Take this row back"
        onClick={() => onDraft(withoutExtra(draft, item.extra.id))}
      >
        ×
      </button>
    );
  }
  const { position } = item;
  const deleted = draft.deleted.includes(position);
  const number = position + 1;
  const insert = (before: number) => onDraft(withExtra(draft, { kind: "insert", row: null, before }));
  return (
    <>
      <Menu label={`Row ${number}`} trigger="⋯" plain small>
        <MenuItem onSelect={() => onDraft(toggledDelete(draft, position))}>
          {deleted ? "Keep the row" : "Delete the row"}
        </MenuItem>
        <MenuItem disabled={filtered} onSelect={() => insert(position)}>
          Insert a row above
        </MenuItem>
        <MenuItem disabled={filtered} onSelect={() => insert(position + 1)}>
          Insert a row below
        </MenuItem>
        <MenuItem
          disabled={filtered}
          onSelect={() => onDraft(withExtra(draft, { kind: "copy", row: position, before: position + 1 }))}
        >
          Copy the row
        </MenuItem>
        <MenuItem disabled={filtered || deleted || movedAway(draft, position)} onSelect={() => setMoving(true)}>
          Move the row …
        </MenuItem>
      </Menu>
      {moving && (
        <MoveDialog
          number={number}
          count={set.row_count}
          onClose={() => setMoving(false)}
          onMove={(before) => onDraft(moved(draft, position, before))}
        />
      )}
    </>
  );
}

interface MoveDialogProps {
  number: number;
  count: number;
  onClose: () => void;
  onMove: (before: number) => void;
}

function MoveDialog({ number, count, onClose, onMove }: MoveDialogProps) {
  const [typed, setTyped] = useState(String(number));
  const id = useId();
  const to = Number(typed);
  const fits = Number.isInteger(to) && to >= 1 && to <= count;
  return (
    <Dialog title={`Move row ${number}`} open onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!fits || to === number) return;
          // Behind the rows that move up by one.
          onMove(to > number ? to : to - 1);
          onClose();
        }}
      >
        <div className="field">
          <label htmlFor={id}>To row (1 to {count})</label>
          <input
            id={id}
            autoFocus
            inputMode="numeric"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <div className="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="main" disabled={!fits || to === number}>
            Move
          </button>
        </div>
      </form>
    </Dialog>
  );
}
