import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 760px)";

/** Whether the window is as narrow as a phone. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const query = window.matchMedia(NARROW);
      query.addEventListener("change", watcher);
      return () => query.removeEventListener("change", watcher);
    },
    () => window.matchMedia(NARROW).matches,
  );
}
