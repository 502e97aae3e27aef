import { useMutation } from "@tanstack/react-query";
import { errorText } from "../api/client";
import { restoreVersion, type Saved } from "./data";

interface UndoNoteProps {
  saved: Saved;
  onSaved: (saved: Saved) => void;
  onClose: () => void;
}

/** Says what was saved, and takes it back: the version before becomes the latest again. */
export function UndoNote({ saved, onSaved, onClose }: UndoNoteProps) {
  const { name, version, note } = saved.test_set;
  const undo = useMutation({ mutationFn: () => restoreVersion(name, version - 1, version), onSuccess: onSaved });
  return (
    <div className="saved-note" role="status">
      <span>
        Saved as version {version}
        {note && `: ${note}`}.
      </span>
      {version > 1 && (
        <button type="button" className="small" disabled={undo.isPending} onClick={() => undo.mutate()}>
          Undo
        </button>
      )}
      <button type="button" className="small plain" aria-label="Close" onClick={onClose}>
        ×
      </button>
      {undo.error && <span className="field-problem">{errorText(undo.error)}</span>}
    </div>
  );
}
