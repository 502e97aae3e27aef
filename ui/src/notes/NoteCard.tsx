import { useState } from "react";
import { ApiError } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { dateWords } from "../time";
import { NoteForm } from "./NoteForm";
import { type Said, useNoteActions } from "./store";
import { type Note, partWords } from "./subjects";

interface NoteCardProps {
  note: Note;
  /** Told after a change that can be undone. */
  onDone: (words: string, undo: () => Promise<unknown>) => void;
}

/** A note with what can be done with it. */
export function NoteCard({ note, onDone }: NoteCardProps) {
  const [editing, setEditing] = useState<Note | null>(null);
  const { change, remove, restore } = useNoteActions();
  const saidOf = (one: Note): Said => ({ tag: one.tag, text: one.text, verdict: one.verdict });

  const save = (before: Note, said: Said) =>
    change.mutate(
      { note: before, said },
      {
        onSuccess: (changed) => {
          setEditing(null);
          onDone("The note is changed.", () => change.mutateAsync({ note: changed, said: saidOf(before) }));
        },
      },
    );
  const discard = () =>
    void remove
      .mutateAsync(note.id)
      // The card is gone by then: a callback of `mutate` would not be called.
      .then(() => onDone("The note is deleted.", () => restore.mutateAsync(note.id)))
      .catch(() => undefined); // It is shown below.

  // Somebody else changed it while this person was typing: theirs is shown, and mine can be saved over it.
  const late = change.error instanceof ApiError && change.error.status === 409 && editing !== null;
  return (
    <li className="note" data-note={note.id}>
      <NoteSaid note={note} />
      {editing ? (
        <NoteForm
          initial={saidOf(editing)}
          save={late ? "Save mine over it" : "Save"}
          busy={change.isPending}
          error={change.error}
          onSave={(said) => save(late ? note : editing, said)}
          onCancel={() => {
            change.reset();
            setEditing(null);
          }}
        />
      ) : (
        <div className="note-actions">
          <button type="button" className="small plain" onClick={() => setEditing(note)}>
            Edit
          </button>
          <button type="button" className="small plain" disabled={remove.isPending} onClick={discard}>
            Delete
          </button>
        </div>
      )}
      {remove.error && <ErrorNote error={remove.error} />}
    </li>
  );
}

/** What a note says, who wrote it and when. */
export function NoteSaid({ note }: { note: Note }) {
  const part = partWords(note.subject);
  return (
    <>
      <p className="note-head">
        <bdi className="note-by">{note.author}</bdi>
        <time className="quiet" dateTime={note.created_at}>
          {dateWords(note.created_at)}
        </time>
        {note.updated_at !== note.created_at && <span className="quiet">changed</span>}
        {part && <span className="badge">{part}</span>}
        {note.verdict && <VerdictBadge verdict={note.verdict} />}
        {note.tag && <bdi className="badge tag">{note.tag}</bdi>}
      </p>
      {note.text && <bdi className="note-text">{note.text}</bdi>}
    </>
  );
}

const WORDS: Record<string, string> = {
  agent: "agent at fault",
  user: "user at fault",
  task: "task at fault",
  environment: "environment at fault",
};

export function VerdictBadge({ verdict }: { verdict: string }) {
  return <span className={`badge verdict-${verdict}`}>{WORDS[verdict] ?? verdict}</span>;
}
