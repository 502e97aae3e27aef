import { useState } from "react";

/** A title that is changed where it stands. */
export function TitleField({ value, onSave }: { value: string; onSave: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const save = () => {
    if (typed !== null && typed !== value) onSave(typed);
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
        if (event.key === "Escape") setTyped(null);
        if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
