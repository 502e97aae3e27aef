/** What this browser keeps: the theme and drafts. A browser that keeps nothing is fine too. */

const PREFIX = "greenroom.";

export function stored(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Be told when another tab of this browser keeps another text; gives what ends it. */
export function onStored(name: string, then: (value: string | null) => void): () => void {
  const heard = (event: StorageEvent) => {
    if (event.key === PREFIX + name) then(event.newValue);
  };
  window.addEventListener("storage", heard);
  return () => window.removeEventListener("storage", heard);
}

/** Keep a text; null removes it. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // Full or switched off: the page works without.
  }
}
