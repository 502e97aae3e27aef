import { useTyped } from "./useTyped";

interface SearchFieldProps {
  value: string;
  label: string;
  onChange: (text: string) => void;
}

/** A search field whose text goes into the address when one pauses. */
export function SearchField({ value, label, onChange }: SearchFieldProps) {
  const [typed, type] = useTyped(value, onChange);
  return (
    <label>
      <span className="hidden-label">{label}</span>
      <input type="search" placeholder={label} value={typed} onChange={(event) => type(event.target.value)} />
    </label>
  );
}
