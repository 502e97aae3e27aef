import { useLayoutEffect, useRef } from "react";

/** Gives something in a virtual list the focus: at once, or as soon as it is in the page. */
export function useFocusWhenShown(): (find: () => HTMLElement | null | undefined) => void {
  const wanted = useRef<(() => HTMLElement | null | undefined) | null>(null);
  const focus = () => {
    const found = wanted.current?.();
    if (!found) return;
    wanted.current = null;
    found.focus();
  };
  useLayoutEffect(focus);
  return (find) => {
    wanted.current = find;
    focus();
  };
}
