import { useEffect, useState } from "react";
import { Menu, MenuItem } from "./Menu";

export interface CopyForm {
  /** Such as "Text", "JSON", "curl", "Python". */
  name: string;
  text: () => string | Promise<string>;
}

/** Copies something; with several forms, a menu. */
export function CopyButton({ forms, label = "Copy" }: { forms: readonly CopyForm[]; label?: string }) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (form: CopyForm) => {
    try {
      await navigator.clipboard.writeText(await form.text());
      setSaid("Copied");
    } catch {
      setSaid("The browser did not allow to copy");
    }
  };
  const shown = said ?? label;
  const [only, another] = forms;
  return (
    <>
      {only && !another ? (
        <button type="button" className="small plain" onClick={() => copy(only)}>
          {shown}
        </button>
      ) : (
        <Menu label={label} trigger={<span className="small-words">{shown}</span>} plain small>
          {forms.map((form) => (
            <MenuItem key={form.name} onSelect={() => copy(form)}>
              {form.name}
            </MenuItem>
          ))}
        </Menu>
      )}
      <span className="hidden-label" role="status">
        {said}
      </span>
    </>
  );
}
