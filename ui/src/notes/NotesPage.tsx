import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { API, api, got } from "../api/client";
import { AddressLink } from "../components/AddressLink";
import { type Column, DataTable } from "../components/DataTable";
import { Dialog } from "../components/Dialog";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { dateWords } from "../time";
import { VerdictBadge } from "./NoteCard";
import { NoteFilters, type NoteSearch } from "./NoteFilters";
import { NotePanel } from "./NotePanel";
import { useNoteActions, useNoteEvents } from "./store";
import { type Note, subjectAddress, subjectWords } from "./subjects";
import "./notes.css";

const route = getRouteApi("/notes");
/** Characters of a text in the list; the panel shows the whole. */
const SHOWN = 600;
const FORMATS = ["csv", "json", "jsonl"] as const;

/** All notes, narrowed as the address says. */
export function NotesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [open, setOpen] = useState<Note | null>(null);
  useNoteEvents();
  const query = queryOf(search);
  const found = useInfiniteQuery({
    queryKey: ["notes", "list", query],
    queryFn: ({ pageParam, signal }) =>
      got(api.GET("/api/v1/notes", { params: { query: { ...query, limit: 100, after: pageParam } }, signal })),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
  const notes = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title="Notes" actions={<Actions search={search} />} fill>
      <NoteFilters search={search} onChange={(next) => void navigate({ search: next, replace: true })} />
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="notes" />}
      {found.isSuccess && notes.length === 0 && <Nothing search={search} />}
      {notes.length > 0 && (
        <DataTable
          label="Notes"
          columns={columns(search.deleted === "yes")}
          rows={notes}
          keyOf={(note) => note.id}
          onOpen={setOpen}
          onEnd={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
        />
      )}
      <Dialog title="Notes" open={open !== null} onClose={() => setOpen(null)}>
        {open && <NotePanel subject={open.subject} />}
      </Dialog>
    </Page>
  );
}

function columns(deleted: boolean): Column<Note>[] {
  return [
    { id: "about", name: "About", cell: (note) => <About note={note} /> },
    { id: "note", name: "Note", cell: (note) => <Said note={note} /> },
    { id: "author", name: "Author", cell: (note) => <bdi>{note.author}</bdi>, wide: true },
    { id: "when", name: "Written", cell: (note) => <Written note={note} />, wide: true },
    ...(deleted ? [{ id: "restore", name: "", cell: (note: Note) => <Restore note={note} /> }] : []),
  ];
}

function About({ note }: { note: Note }) {
  const address = subjectAddress(note.subject);
  const words = <bdi>{subjectWords(note.subject)}</bdi>;
  return address ? <AddressLink to={address}>{words}</AddressLink> : words;
}

function Said({ note }: { note: Note }) {
  return (
    <div className="note-cell">
      {note.verdict && <VerdictBadge verdict={note.verdict} />}{" "}
      {note.tag && <bdi className="badge tag">{note.tag}</bdi>}
      {note.text && <bdi className="note-text">{note.text.slice(0, SHOWN)}</bdi>}
    </div>
  );
}

function Written({ note }: { note: Note }) {
  return (
    <time className="when" dateTime={note.created_at}>
      {dateWords(note.created_at)}
    </time>
  );
}

function Restore({ note }: { note: Note }) {
  const { restore } = useNoteActions();
  return (
    <button type="button" className="small" disabled={restore.isPending} onClick={() => restore.mutate(note.id)}>
      Restore
    </button>
  );
}

function Actions({ search }: { search: NoteSearch }) {
  return (
    <>
      {search.run !== undefined && (
        <Link to="/notes/agreement" search={{ run: search.run }} className="button">
          Agreement
        </Link>
      )}
      <span className="quiet">Export</span>
      {FORMATS.map((format) => (
        <a key={format} className="button" href={exportAddress(search, format)} download={`notes.${format}`}>
          {format.toUpperCase()}
        </a>
      ))}
    </>
  );
}

function Nothing({ search }: { search: NoteSearch }) {
  if (Object.keys(search).length > 0) {
    return (
      <EmptyState title="No such notes.">
        <Link to="/notes" search={{}}>
          Show all notes
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="There are no notes yet.">
      <p>
        Open an episode of a run, a row of an evaluation or a turn of a thread, and press <kbd>n</kbd> or choose “Note”:
        a tag, a text, a verdict on who is at fault.
      </p>
    </EmptyState>
  );
}

function queryOf({ deleted, ...rest }: NoteSearch) {
  return { ...rest, deleted: deleted === "yes" };
}

function exportAddress(search: NoteSearch, format: string): string {
  const given = Object.entries(queryOf(search)).map(([name, value]): [string, string] => [name, String(value)]);
  return `${API}/notes/export?${new URLSearchParams([...given, ["format", format]])}`;
}
