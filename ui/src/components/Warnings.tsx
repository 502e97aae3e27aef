import { Power } from "./Power";

/** What has to be known to read a result rightly. */
export function Warnings({ notes }: { notes: readonly string[] }) {
  if (!notes.length) return null;
  return (
    <ul className="warnings">
      {notes.map((note) => (
        <li key={note}>
          <Power text={note} />
        </li>
      ))}
    </ul>
  );
}
