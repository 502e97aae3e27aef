/** What is typed and not sent yet: kept in this browser, so that it survives a reload. */
import { useState } from "react";
import { store, stored } from "../storage";

const LONGEST = 1_000_000;

/** Whether something was typed under this name. */
export const hasDraft = (name: string) => stored(`draft.${name}`) !== null;

export function useDraft(name: string): [string, (text: string) => void] {
  const key = `draft.${name}`;
  const [draft, setDraft] = useState(() => stored(key) ?? "");
  const keep = (text: string) => {
    setDraft(text);
    store(key, text && text.length <= LONGEST ? text : null);
  };
  return [draft, keep];
}
