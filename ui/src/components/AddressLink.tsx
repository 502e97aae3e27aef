import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

/** A link to an address of the playground that is made of data, such as the subject of a note. */
export function AddressLink({ to, children }: { to: string; children: ReactNode }) {
  const router = useRouter();
  const follow = (event: MouseEvent) => {
    // A click with a key opens a tab or a window: that is the browser's.
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(to);
  };
  return (
    <a href={to} onClick={follow}>
      {children}
    </a>
  );
}
