import { useState } from "react";
import { briefly, isObject } from "../json";
import { LongText } from "./LongText";

const PAGE = 100;
/** So many entries are open at first. */
const OPEN = 20;

interface JsonViewProps {
  value: unknown;
  /** How many levels are open at first. */
  depth?: number;
}

/** A JSON value from its root: objects and lists open and close, long lists come in steps. */
export function JsonView({ value, depth = 2 }: JsonViewProps) {
  return (
    <div className="json">
      <Value value={value} depth={depth} />
    </div>
  );
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (Array.isArray(value)) {
    const entries = value.map((one: unknown, place): [string, unknown] => [String(place), one]);
    return <Entries entries={entries} signs="[]" depth={depth} />;
  }
  if (isObject(value)) return <Entries entries={Object.entries(value)} signs="{}" depth={depth} />;
  if (typeof value === "string") {
    return value.length > 200 || value.includes("\n") ? (
      <LongText text={value} plain />
    ) : (
      <span className="json-text">{JSON.stringify(value)}</span>
    );
  }
  return <span className="json-other">{value === undefined ? "nothing" : JSON.stringify(value)}</span>;
}

/** The first entries in a line, without the signs around them. */
export function glimpse(entries: readonly [string, unknown][], isList: boolean): string {
  const shown = entries.slice(0, 4);
  const text = JSON.stringify(isList ? shown.map(([, one]) => one) : Object.fromEntries(shown));
  const inside = briefly(text.slice(1, -1), 60);
  return entries.length > shown.length && !inside.endsWith("…") ? `${inside},…` : inside;
}

interface EntriesProps {
  entries: [string, unknown][];
  signs: string;
  depth: number;
}

function Entries({ entries, signs, depth }: EntriesProps) {
  const [open, setOpen] = useState(depth > 0 && entries.length <= OPEN);
  const [shown, setShown] = useState(PAGE);
  if (!entries.length) return <span>{signs}</span>;
  const isList = signs === "[]";
  const count = `${entries.length} ${isList ? (entries.length === 1 ? "item" : "items") : entries.length === 1 ? "field" : "fields"}`;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {signs[0]}
        {!open && (
          <span className="json-size">
            {" "}
            {glimpse(entries, isList)} {signs[1]} {count}
          </span>
        )}
      </summary>
      {open && (
        <>
          <div className="json-inside">
            {entries.slice(0, shown).map(([name, one]) => (
              <div key={name}>
                <span className="json-name">{isList ? name : JSON.stringify(name)}</span>:{" "}
                <Value value={one} depth={depth - 1} />
              </div>
            ))}
            {entries.length > shown && (
              <button type="button" className="small" onClick={() => setShown(shown + PAGE)}>
                Show more ({entries.length - shown} left)
              </button>
            )}
          </div>
          {signs[1]}
        </>
      )}
    </details>
  );
}
