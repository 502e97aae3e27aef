import { useEffect, useId, useRef, useState } from "react";

export interface Suggestion {
  name: string;
  /** What is said beside the name. */
  words: string;
}

interface Typed {
  text: string;
  /** What suggestions are asked for: nothing, until something else than the value is typed. */
  asked: string;
  type: (text: string) => void;
}

/** What is typed into a field whose value comes from elsewhere. */
export function useTyped(value = ""): Typed {
  const [text, type] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    type(value);
  }
  return { text, asked: text === value ? "" : text, type };
}

interface NameChoiceProps {
  label: string;
  typed: Typed;
  placeholder: string;
  suggestions: readonly Suggestion[];
  onChoose: (name: string) => void;
}

/** Something by its name; the names that have what was typed are suggested. */
export function NameChoice({ label, typed, placeholder, suggestions, onChoose }: NameChoiceProps) {
  const names = useId();
  // The suggestions may come after the name was typed.
  const matched = typed.asked !== "" && suggestions.some((one) => one.name === typed.text);
  const choose = useRef(onChoose);
  useEffect(() => {
    choose.current = onChoose;
  });
  useEffect(() => {
    if (matched) choose.current(typed.text);
  }, [matched, typed.text]);
  return (
    <form
      className="name-choice"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.text) onChoose(typed.text);
      }}
    >
      <label>
        <span className="label-words">{label}</span>
        <input
          list={names}
          value={typed.text}
          placeholder={placeholder}
          onChange={(event) => typed.type(event.target.value)}
        />
      </label>
      <datalist id={names}>
        {suggestions.map((one) => (
          <option key={one.name} value={one.name}>
            {one.words}
          </option>
        ))}
      </datalist>
    </form>
  );
}
