import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { NOTHING, type Said, useTags } from "./store";
import { VERDICTS } from "./subjects";

interface NoteFormProps {
  initial?: Said;
  save: string;
  busy: boolean;
  error?: unknown;
  author?: { name: string; onChange: (name: string) => void };
  /** Told what is typed. */
  onType?: (said: Said) => void;
  onSave: (said: Said) => void;
  onCancel?: () => void;
}

/** Tag, verdict and text of a note. Ctrl-Enter saves. */
export function NoteForm({ initial = NOTHING, save, busy, error, author, onType, onSave, onCancel }: NoteFormProps) {
  const [said, setTyped] = useState(initial);
  const setSaid = (next: Said) => {
    setTyped(next);
    onType?.(next);
  };
  const tags = useTags();
  const id = useId();
  const empty = !said.tag.trim() && !said.text.trim() && said.verdict === null;
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (!empty && !busy) onSave(said);
  };
  return (
    <form
      className="note-form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      <fieldset className="field verdicts">
        <legend>Who is at fault</legend>
        {[null, ...VERDICTS].map((verdict) => (
          <label key={verdict ?? ""} className="field-check">
            <input
              type="radio"
              name={`${id}-verdict`}
              checked={said.verdict === verdict}
              onChange={() => setSaid({ ...said, verdict })}
            />
            {verdict ?? "no verdict"}
          </label>
        ))}
      </fieldset>
      <div className="field">
        <label htmlFor={`${id}-tag`}>Tag</label>
        <input
          id={`${id}-tag`}
          value={said.tag}
          list={`${id}-tags`}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => setSaid({ ...said, tag: event.target.value })}
        />
        <datalist id={`${id}-tags`}>
          {tags.data?.map((one) => (
            <option key={one.tag} value={one.tag} />
          ))}
        </datalist>
      </div>
      <div className="field">
        <label htmlFor={`${id}-text`}>Note</label>
        <textarea
          id={`${id}-text`}
          rows={3}
          value={said.text}
          maxLength={100_000}
          onChange={(event) => setSaid({ ...said, text: event.target.value })}
        />
      </div>
      {author && (
        <div className="field note-author">
          <label htmlFor={`${id}-author`}>
            Your name <span className="hint">this browser keeps it</span>
          </label>
          <input
            id={`${id}-author`}
            value={author.name}
            maxLength={200}
            onChange={(event) => author.onChange(event.target.value)}
          />
        </div>
      )}
      {error !== undefined && error !== null && <ErrorNote error={error} />}
      <div className="actions">
        <button type="submit" className="main" disabled={empty || busy}>
          {save}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        {empty && <span className="quiet">A verdict, a tag or a text makes a note.</span>}
      </div>
    </form>
  );
}
