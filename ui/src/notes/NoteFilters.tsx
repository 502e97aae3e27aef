import { type ReactNode, useEffect, useId, useState } from "react";
import { VERDICT_CHOICES, type VerdictChoice } from "./choices";
import { useTags } from "./store";
import { VERDICTS } from "./subjects";

/** What the list of notes is narrowed to, as its address says it. */
export interface NoteSearch {
  run?: string;
  evaluation?: string;
  thread?: string;
  tag?: string;
  verdict?: VerdictChoice;
  author?: string;
  q?: string;
  deleted?: "yes";
}

interface NoteFiltersProps {
  search: NoteSearch;
  onChange: (search: NoteSearch) => void;
}

/** The filters over the list; each change goes into the address. */
export function NoteFilters({ search, onChange }: NoteFiltersProps) {
  const tags = useTags();
  const names = useId();
  const set = (name: "run" | "evaluation" | "tag" | "author" | "q", value: string) => {
    const { [name]: _, ...rest } = search;
    onChange(value ? { ...rest, [name]: value } : rest);
  };
  return (
    <search className="note-filters">
      <Typed className="q" type="search" name="Words" value={search.q} onTyped={(value) => set("q", value)} />
      <Typed whole name="Run" value={search.run} onTyped={(value) => set("run", value)} />
      <Typed whole name="Evaluation" value={search.evaluation} onTyped={(value) => set("evaluation", value)} />
      <Typed name="Tag" value={search.tag} list={names} onTyped={(value) => set("tag", value)}>
        <datalist id={names}>
          {tags.data?.map((one) => (
            <option key={one.tag} value={one.tag} />
          ))}
        </datalist>
      </Typed>
      <VerdictSelect
        value={search.verdict}
        onChange={(verdict) => {
          const { verdict: _, ...rest } = search;
          onChange(verdict ? { ...rest, verdict } : rest);
        }}
      />
      <Typed name="Author" value={search.author} onTyped={(value) => set("author", value)} />
      <label className="field-check">
        <input
          type="checkbox"
          checked={search.deleted === "yes"}
          onChange={(event) => {
            const { deleted: _, ...rest } = search;
            onChange(event.target.checked ? { ...rest, deleted: "yes" } : rest);
          }}
        />
        Deleted ones
      </label>
    </search>
  );
}

interface VerdictSelectProps {
  value: VerdictChoice | undefined;
  onChange: (verdict: VerdictChoice | undefined) => void;
}

/** Narrows a list to notes with a verdict. */
export function VerdictSelect({ value, onChange }: VerdictSelectProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Verdict</label>
      <select
        id={id}
        value={value ?? ""}
        onChange={(event) => onChange(VERDICT_CHOICES.find((one) => one === event.target.value))}
      >
        <option value="">all</option>
        {VERDICTS.map((verdict) => (
          <option key={verdict} value={verdict}>
            {verdict}
          </option>
        ))}
        <option value="any">any verdict</option>
        <option value="none">no verdict</option>
      </select>
    </div>
  );
}

interface TypedProps {
  name: string;
  value: string | undefined;
  onTyped: (value: string) => void;
  type?: "search" | "text";
  /** Only a whole name is of use: it is told by Enter, or when the field is left. */
  whole?: boolean;
  list?: string;
  className?: string;
  children?: ReactNode;
}

const PAUSE = 250;

/** A field that tells its value when a person stops typing. */
function Typed({ name, value = "", onTyped, type = "text", whole, list, className = "", children }: TypedProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  useEffect(() => {
    if (typed === null || whole) return;
    const timer = setTimeout(() => {
      if (typed !== value) onTyped(typed);
      setTyped(null);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed, value, onTyped, whole]);
  const finish = () => {
    if (typed !== null && typed !== value) onTyped(typed);
    setTyped(null);
  };
  return (
    <div className={`field ${className}`}>
      <label htmlFor={id}>{name}</label>
      <input
        id={id}
        type={type}
        list={list}
        value={typed ?? value}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => event.key === "Enter" && finish()}
      />
      {children}
    </div>
  );
}
