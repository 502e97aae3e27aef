import { defaultRangeExtractor, type Range } from "@tanstack/react-virtual";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";

/** More rows than this are exported, not printed. */
const MOST_PRINTED = 1000;

const everything = () => true;

/**
 * Which items of a virtual list are in the page: what can be seen, and all that is loaded while it is printed. A list
 * that loads its items as they are seen says which are there.
 */
export function usePrintedRange(isLoaded: (index: number) => boolean = everything): (range: Range) => number[] {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    // The browser takes the page as it is when this event ends.
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", end);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", end);
    };
  }, []);
  if (!printing) return defaultRangeExtractor;
  return ({ count }) =>
    Array.from({ length: count }, (_, index) => index)
      .filter(isLoaded)
      .slice(0, MOST_PRINTED);
}
