/** Keys: what a page does on which key, and the list that `?` shows. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Key {
  /** Such as "j", "ArrowDown", "Mod+Enter" (Ctrl, or Cmd on a Mac), "Shift+Enter". Several: ["j", "ArrowDown"]. */
  keys: string | readonly string[];
  /** What it does, for the list of keys. */
  does: string;
  /**
   * Left out for keys that an element handles itself, such as Enter in a field: they are only listed. LATER says that
   * what the key needs is not there yet.
   */
  run?: (event: KeyboardEvent) => unknown;
  /** Also while a field has the focus. */
  inFields?: boolean;
  /** Also while a dialog is open: the keys of the page rest then. */
  inDialogs?: boolean;
}

/** What a key needs is being loaded: it is run again until it is there, unless something else is done meanwhile. */
export const LATER = Symbol("later");

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** Whether a key press is the named one. */
export function matches(name: string, event: Pressed): boolean {
  const parts = name.split("+");
  const key = name === "+" ? "+" : (parts.pop() ?? "");
  const mod = parts.includes("Mod");
  if (mod !== (event.ctrlKey || event.metaKey) || parts.includes("Alt") !== event.altKey) return false;
  // A sign such as ? needs Shift on most keyboards: only named keys tell Shift apart.
  const shift = parts.includes("Shift");
  if (key.length > 1 || shift || mod) {
    return shift === event.shiftKey && event.key.toLowerCase() === key.toLowerCase();
  }
  return event.key === key;
}

export function namesOf(key: Key): readonly string[] {
  return typeof key.keys === "string" ? [key.keys] : key.keys;
}

const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const NO_TEXT = new Set(["checkbox", "radio", "button", "submit"]);

/** Whether what is typed goes into a field. */
export function isField(target: EventTarget | null): boolean {
  if (typeof HTMLElement === "undefined" || !(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !NO_TEXT.has(target.type);
  return FIELDS.has(target.tagName) || target.isContentEditable;
}

export interface Where {
  inField: boolean;
  inDialog: boolean;
}

/** The binding of a key press: the latest registered wins, so that a part goes before its page. */
export function bindingFor(layers: readonly (readonly Key[])[], event: Pressed, where: Where): Key | null {
  const works = (key: Key) => (key.inFields || !where.inField) && (key.inDialogs || !where.inDialog);
  for (const layer of [...layers].reverse()) {
    const found = layer.find((key) => key.run && works(key) && namesOf(key).some((name) => matches(name, event)));
    if (found) return found;
  }
  return null;
}

let layers: readonly (readonly Key[])[] = [];
const watchers = new Set<() => void>();

function changed(next: readonly (readonly Key[])[]): void {
  layers = next;
  for (const watcher of watchers) watcher();
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.target instanceof Element && event.target.closest("[role=menu]")) return;
  const where = { inField: isField(event.target), inDialog: inDialog() };
  const found = bindingFor(layers, event, where);
  const result = found?.run ? found.run(event) : undefined;
  const open = !where.inField && !where.inDialog && isPlain(event);
  const waits = open && (found ? result === LATER : isLoading());
  if (waits) keepFor(event);
  else forget();
  if (found || waits) event.preventDefault();
}

/** A press whose page is still being loaded. */
interface Waiting {
  event: KeyboardEvent;
  since: number;
}

const TRIED_EVERY = 50;
const KEPT_FOR = 10_000;
let waiting: readonly Waiting[] = [];

const inDialog = () => document.querySelector("dialog:modal") !== null;

/** A letter or a sign alone: with Ctrl, Cmd or Alt it is too much to do unseen. */
const isPlain = (event: Pressed) =>
  event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;

function isLoading(): boolean {
  const main = document.getElementById("main");
  return !main?.childElementCount || main.querySelector(".loading") !== null;
}

function keepFor(event: KeyboardEvent): void {
  if (!waiting.length) setTimeout(tryAgain, TRIED_EVERY);
  waiting = [...waiting, { event, since: Date.now() }];
}

/** Who does something else has moved on. */
function forget(): void {
  waiting = [];
}

/** Run the first press that can be run now; those after it wait for what it shows. */
function tryAgain(): void {
  const where = { inField: isField(document.activeElement), inDialog: inDialog() };
  const ran = waiting.find(({ event }) => {
    const run = bindingFor(layers, event, where)?.run;
    return run && run(event) !== LATER;
  });
  waiting = waiting.filter((one) => one !== ran && Date.now() - one.since < KEPT_FOR);
  if (waiting.length) setTimeout(tryAgain, TRIED_EVERY);
}

function listen(on = true): void {
  const change = on ? document.addEventListener : document.removeEventListener;
  change.call(document, "keydown", onKeyDown as EventListener);
  change.call(document, "pointerdown", forget);
  forget();
}

/** Register keys while a component is shown. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  const names = keys
    .map((key) => `${namesOf(key).join(" ")}:${key.does}:${key.inFields ?? false}:${key.inDialogs ?? false}`)
    .join("|");
  useEffect(() => {
    // `names` stands for the keys: handlers may change with every render, the list seldom.
    if (!names) return;
    const layer = latest.current.map((key, place): Key => {
      const { run: _, ...rest } = key;
      return key.run ? { ...rest, run: (event) => latest.current[place]?.run?.(event) } : rest;
    });
    if (!layers.length) listen();
    changed([...layers, layer]);
    return () => {
      changed(layers.filter((one) => one !== layer));
      if (!layers.length) listen(false);
    };
  }, [names]);
}

/** All keys that work now, the page's own first. */
export function useKeyList(): readonly Key[] {
  const all = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => layers,
  );
  return [...all].reverse().flat();
}

const WORDS: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

/** A key's name for people. */
export function keyWords(name: string): string[] {
  const mac = typeof navigator !== "undefined" && /Mac/.test(navigator.userAgent);
  const parts = name === "+" ? ["+"] : name.split("+");
  return parts.map((part) => (part === "Mod" ? (mac ? "⌘" : "Ctrl") : (WORDS[part] ?? part)));
}
