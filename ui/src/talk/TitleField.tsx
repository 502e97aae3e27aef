import { useRef, useState } from "react";

/** A title that is changed where it stands. */
export function TitleField({ value, onSave }: { value: string; onSave: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const givenUp = useRef(false);
  const save = () => {
    if (typed !== null && typed !== value && !givenUp.current) onSave(typed);
    givenUp.current = false;
    setTyped(null);
  };
  return (
    <input
      className="title-field"
      aria-label="Title of the board"
      placeholder="Untitled board"
      value={typed ?? value}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        givenUp.current = event.key === "Escape";
        if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
