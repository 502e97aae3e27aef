import { useId, useState } from "react";
import { sameJson } from "../json";
import { type Field, typedText, typedValue } from "../schema";

interface TypedFieldProps {
  id?: string;
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
  name?: string;
}

const JSON_FIELD: Field = { kind: "json" };
const MOST_ROWS = 16;

/** A value that is typed: text, a number, or JSON. What is typed counts as soon as it means something. */
export function TypedField({ id, field, value, onChange, name }: TypedFieldProps) {
  const [typed, setTyped] = useState<{ text: string; over: unknown } | null>(null);
  const problem = useId();
  const meant = typed === null ? null : typedValue(field, typed.text);
  // What was typed stays as it was typed, such as "1." on the way to "1.5", until the value changes elsewhere.
  const holds = meant !== null && sameJson(meant.ok ? meant.value : typed?.over, value);
  const text = typed !== null && holds ? typed.text : typedText(field, value);
  const wrong = holds && !meant.ok ? meant.problem : null;
  const change = (next: string) => {
    setTyped({ text: next, over: value });
    const found = typedValue(field, next);
    if (found.ok) onChange(found.value);
  };
  const shared = {
    // A form is not sent while something in it cannot be understood.
    ref: (element: HTMLInputElement | HTMLTextAreaElement | null) => element?.setCustomValidity(wrong ?? ""),
    id,
    value: text,
    "aria-label": id ? undefined : name,
    "aria-invalid": wrong ? true : undefined,
    "aria-describedby": wrong ? problem : undefined,
  };
  return (
    <>
      {field.kind === "number" ? (
        <input {...shared} inputMode="decimal" onChange={(event) => change(event.target.value)} />
      ) : (
        <textarea
          {...shared}
          className={field.kind === "json" ? "json-field" : ""}
          spellCheck={field.kind !== "json"}
          rows={Math.min(MOST_ROWS, text.split("\n", MOST_ROWS).length)}
          onChange={(event) => change(event.target.value)}
        />
      )}
      {wrong && (
        <span className="field-problem" id={problem}>
          {wrong}
        </span>
      )}
    </>
  );
}

/** Any value as JSON. */
export function JsonField(props: Omit<TypedFieldProps, "field">) {
  return <TypedField {...props} field={JSON_FIELD} />;
}
