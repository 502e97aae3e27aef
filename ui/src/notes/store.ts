/** Notes of the server: read, write, change, delete and restore them. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, got, outliving } from "../api/client";
import { useEvents } from "../api/events";
import { isObject } from "../json";
import { store, stored } from "../storage";
import { groupOf, isAbout, type Note, type NoteSubject, type Verdict } from "./subjects";

/** What a person says in a note. */
export interface Said {
  tag: string;
  text: string;
  verdict: Verdict | null;
}

export const NOTHING: Said = { tag: "", text: "", verdict: null };

const KEY = "notes";
const MOST = 500;

/** The notes about a subject; everything on a page that belongs together is asked for once. */
export function useNotesAbout(subject: NoteSubject, enabled = true) {
  const group = groupOf(subject);
  const found = useQuery({
    queryKey: [KEY, "about", group],
    queryFn: ({ signal }) => got(api.GET("/api/v1/notes", { params: { query: { ...group, limit: MOST } }, signal })),
    enabled,
  });
  const notes = found.data?.items.filter((note) => isAbout(note.subject, subject));
  return { ...found, notes };
}

/** Load notes again when anybody writes some. */
export function useNoteEvents(): void {
  const client = useQueryClient();
  useEvents((event) => {
    if (event.kind === "note" || event.kind === "reconnected") void client.invalidateQueries({ queryKey: [KEY] });
  });
}

/** What can be done with notes; each loads again what is shown. */
export function useNoteActions() {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: [KEY] });
  const add = useMutation({
    mutationFn: ({ subject, said, author }: { subject: NoteSubject; said: Said; author: string }) =>
      got(api.POST("/api/v1/notes", { body: { subject, ...said, author }, ...outliving(said) })),
    onSettled,
  });
  const change = useMutation({
    mutationFn: ({ note, said }: { note: Pick<Note, "id" | "updated_at">; said: Said }) =>
      got(
        api.PATCH("/api/v1/notes/{note_id}", {
          params: { path: { note_id: note.id } },
          body: { updated_at: note.updated_at, ...said },
          ...outliving(said),
        }),
      ),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: (id: string) => got(api.DELETE("/api/v1/notes/{note_id}", { params: { path: { note_id: id } } })),
    onSettled,
  });
  const restore = useMutation({
    mutationFn: (id: string) => got(api.POST("/api/v1/notes/{note_id}/restore", { params: { path: { note_id: id } } })),
    onSettled,
  });
  return { add, change, remove, restore };
}

/** Tags that others used, for completion. */
export function useTags() {
  return useQuery({
    queryKey: [KEY, "tags"],
    queryFn: ({ signal }) => got(api.GET("/api/v1/notes/tags", { signal })),
  });
}

const AUTHOR = "notes.author";

/** The name that this browser's notes have. */
export function useAuthor(): [string, (name: string) => void] {
  const [name, setName] = useState(() => stored(AUTHOR) ?? "me");
  const keep = (next: string) => {
    setName(next);
    store(AUTHOR, next.trim() || null);
  };
  return [name, keep];
}

const typedName = (subject: NoteSubject) => `draft.note.${JSON.stringify(subject)}`;

/** What was typed about a subject and not added yet: this browser keeps it. */
export function typedNote(subject: NoteSubject): Said {
  try {
    const found: unknown = JSON.parse(stored(typedName(subject)) ?? "{}");
    return { ...NOTHING, ...(isObject(found) ? found : {}) };
  } catch {
    return NOTHING;
  }
}

export function keepTyped(subject: NoteSubject, said: Said | null): void {
  const empty = !said || (!said.tag && !said.text && said.verdict === null);
  store(typedName(subject), empty ? null : JSON.stringify(said));
}
