import { useState } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { NoteCard } from "./NoteCard";
import { NoteForm } from "./NoteForm";
import { keepTyped, typedNote, useAuthor, useNoteActions, useNotesAbout } from "./store";
import { type NoteSubject, subjectWords } from "./subjects";
import "./notes.css";

interface Done {
  words: string;
  undo: () => Promise<unknown>;
}

/** The notes about a subject, and a form for another one. */
export function NotePanel({ subject }: { subject: NoteSubject }) {
  const found = useNotesAbout(subject);
  const { add, remove } = useNoteActions();
  const [author, setAuthor] = useAuthor();
  const [done, setDone] = useState<Done | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const [written, setWritten] = useState(0);
  const finish = (words: string, undo: () => Promise<unknown>) => {
    setFailed(null);
    setDone({ words, undo });
  };
  const undo = async (last: Done) => {
    try {
      await last.undo();
      // What was done meanwhile keeps its own undo.
      setDone((now) => (now === last ? null : now));
    } catch (error) {
      setFailed(error);
    }
  };
  return (
    <div className="note-panel">
      <p className="quiet">
        <bdi>{subjectWords(subject)}</bdi>
      </p>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="notes" />}
      {found.notes && found.notes.length > 0 && (
        <ul className="note-list">
          {found.notes.map((note) => (
            <NoteCard key={note.id} note={note} onDone={finish} />
          ))}
        </ul>
      )}
      <p role="status" className={done ? "note-done" : "hidden-label"}>
        {done && (
          <>
            {done.words}{" "}
            <button type="button" className="small" onClick={() => void undo(done)}>
              Undo
            </button>
          </>
        )}
      </p>
      {failed !== null && <ErrorNote error={failed} />}
      <NoteForm
        key={written}
        initial={typedNote(subject)}
        onType={(said) => keepTyped(subject, said)}
        save="Add note"
        busy={add.isPending}
        error={add.error}
        author={{ name: author, onChange: setAuthor }}
        onSave={(said) =>
          add.mutate(
            { subject, said, author: author.trim() || "me" },
            {
              onSuccess: (note) => {
                keepTyped(subject, null);
                setWritten(written + 1);
                finish("The note is kept.", () => remove.mutateAsync(note.id));
              },
            },
          )
        }
      />
    </div>
  );
}
