import { useEffect, useRef, useState } from "react";

const PAUSE = 250;

/**
 * A text that is told when one pauses, such as to the address. What is told comes back a moment later, and what was
 * typed in that moment stays; only a text that came from elsewhere, such as by going back, takes its place.
 */
export function useTyped(value: string, onTell: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  /** Told, and not back yet. */
  const told = useRef<string[]>([]);
  const latest = useRef({ value, onTell });
  useEffect(() => {
    latest.current = { value, onTell };
  });
  useEffect(() => {
    const place = told.current.indexOf(value);
    told.current.splice(0, place + 1);
    if (place >= 0) return;
    clearTimeout(timer.current);
    setTyped(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      if (text === (told.current.at(-1) ?? latest.current.value)) return;
      told.current.push(text);
      latest.current.onTell(text);
    }, PAUSE);
  };
  return [typed, type];
}
