/** What notes are about: how it is asked for, named and linked to. */
import type { components } from "../api/schema";

export type Note = components["schemas"]["Note"];
export type Verdict = NonNullable<Note["verdict"]>;

/** An episode or one of its steps, a row of an evaluation, a thread or one of its turns. */
export type NoteSubject =
  | { run: string; task: number; trial: number; step?: number | null }
  | { evaluation: string; item: number; trial: number }
  | { thread: string; turn?: string | null; board?: string | null };

export const VERDICTS: readonly Verdict[] = ["agent", "user", "task", "environment"];

/** Everything that one look at the store gives the notes of: the whole episode, row or thread. */
export type NoteGroup =
  | { run: string; item: number; trial: number }
  | { evaluation: string; item: number; trial: number }
  | { thread: string };

export function groupOf(subject: NoteSubject): NoteGroup {
  if ("run" in subject) return { run: subject.run, item: subject.task, trial: subject.trial };
  if ("evaluation" in subject) {
    return { evaluation: subject.evaluation, item: subject.item, trial: subject.trial };
  }
  return { thread: subject.thread };
}

/** Whether a note belongs to a subject: those about a part belong to the whole too. */
export function isAbout(note: NoteSubject, subject: NoteSubject): boolean {
  if ("run" in subject) return typeof subject.step !== "number" || ("run" in note && note.step === subject.step);
  if ("evaluation" in subject) return true;
  return !subject.turn || ("thread" in note && note.turn === subject.turn);
}

/** A subject in words, such as "shop-1, task 3, trial 0, step 2". */
export function subjectWords(subject: NoteSubject): string {
  if ("run" in subject) {
    const step = typeof subject.step === "number" ? `, step ${subject.step + 1}` : "";
    return `${subject.run}, task ${subject.task}, trial ${subject.trial}${step}`;
  }
  if ("evaluation" in subject) {
    const trial = subject.trial ? `, repeat ${subject.trial + 1}` : "";
    return `${subject.evaluation}, row ${subject.item + 1}${trial}`;
  }
  return subject.turn ? "A turn of a thread" : "A thread";
}

/** The part of a whole that a note is about, such as "Step 2"; null for the whole. */
export function partWords(subject: NoteSubject): string | null {
  if ("run" in subject) return typeof subject.step === "number" ? `Step ${subject.step + 1}` : null;
  return "thread" in subject && subject.turn ? "A turn" : null;
}

/** Where a subject is shown; null if nobody knows. */
export function subjectAddress(subject: NoteSubject): string | null {
  if ("run" in subject) {
    const episode = `${encodeURIComponent(subject.run)}/episodes/${subject.task}/${subject.trial}`;
    return `/runs/${episode}${typeof subject.step === "number" ? `?step=${subject.step}` : ""}`;
  }
  if ("evaluation" in subject) {
    return `/evaluations/${encodeURIComponent(subject.evaluation)}?row=${subject.item}&repeat=${subject.trial}`;
  }
  if (!subject.board) return null;
  const turn = subject.turn ? `&turn=${encodeURIComponent(subject.turn)}` : "";
  return `/boards/${encodeURIComponent(subject.board)}?thread=${encodeURIComponent(subject.thread)}${turn}`;
}
