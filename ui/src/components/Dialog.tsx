import { type ReactNode, useEffect, useId, useRef } from "react";

interface DialogProps {
  title: string;
  open: boolean;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

/** A modal dialog: the browser's own, which keeps the focus, closes on Escape and gives the focus back. */
export function Dialog({ title, open, onClose, wide, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const pressedBeside = useRef(false);
  const name = useId();
  useEffect(() => {
    const element = dialog.current;
    if (!element || element.open === open) return;
    if (!open) element.close();
    else {
      element.showModal();
      // The browser takes the first button, which closes the dialog: a field is what it was opened for.
      if (document.activeElement?.matches(".dialog-inside > header > button")) {
        element.querySelector<HTMLElement>("input, textarea, select")?.focus();
      }
    }
  }, [open]);
  return (
    // A click beside the dialog closes it; the keyboard has Escape. Who selects text may let go of it beside.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog.
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={name}
      onClose={onClose}
      onPointerDown={(event) => {
        pressedBeside.current = event.target === dialog.current;
      }}
      onClick={(event) => event.target === dialog.current && pressedBeside.current && onClose()}
    >
      {open && (
        <div className="dialog-inside">
          <header>
            <h2 id={name}>{title}</h2>
            <button type="button" className="plain" aria-label="Close" onClick={onClose}>
              ×
            </button>
          </header>
          {children}
        </div>
      )}
    </dialog>
  );
}
