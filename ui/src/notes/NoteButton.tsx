import { useState } from "react";
import { Dialog } from "../components/Dialog";
import { LATER, useKeys } from "../keys";
import { NotePanel } from "./NotePanel";
import { useNoteEvents, useNotesAbout } from "./store";
import type { NoteSubject } from "./subjects";

export type { NoteSubject } from "./subjects";

interface NoteButtonProps {
  subject: NoteSubject;
  /** How many notes there are, where a list knows; else the button asks for itself. */
  count?: number;
}

/** A button that shows how many notes there are, and opens them. The key n opens the one nearest to the focus. */
export function NoteButton({ subject, count }: NoteButtonProps) {
  const [open, setOpen] = useState(false);
  // A page has hundreds of these buttons: dialogs come when they are wanted, and stay to give the focus back.
  const [opened, setOpened] = useState(false);
  const { notes } = useNotesAbout(subject, count === undefined);
  useNoteEvents();
  useKeys([{ keys: "n", does: "Write a note about what is in focus", run: openNearest }]);
  const number = count ?? notes?.length ?? 0;
  return (
    <>
      <button
        type="button"
        className="small plain"
        data-note-button={number}
        title="Notes (n)"
        onClick={() => {
          setOpened(true);
          setOpen(true);
        }}
      >
        {number > 0 ? `Notes ${number}` : "Note"}
      </button>
      {opened && (
        <Dialog title="Notes" open={open} onClose={() => setOpen(false)}>
          <NotePanel subject={subject} />
        </Dialog>
      )}
    </>
  );
}

/** Open the notes of what has the focus: those of the smallest part around it that can be marked. */
function openNearest() {
  const focused = document.activeElement;
  for (let part: Element | null = focused; part; part = part.parentElement) {
    const button = part.querySelector<HTMLButtonElement>("[data-note-button]");
    if (button) {
      // Closing the dialog gives the focus back to where it was; the page itself is no such place.
      if (focused === document.body || focused?.id === "main") button.focus();
      button.click();
      return;
    }
  }
  return LATER;
}
