import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { LATER, useKeys } from "../keys";
import { AREAS } from "./areas";
import { KeyHelp } from "./KeyHelp";
import { OtherBrowser } from "./OtherBrowser";
import { ThemeMenu } from "./ThemeMenu";

/** The frame of every page: the bar with the areas, the page, and the list of keys. */
export function Shell() {
  const [help, setHelp] = useState(false);
  const path = useLocation({ select: (location) => location.pathname });
  const main = useFocusAfterNavigation(path);
  const areas = useCurrentAreaInView(path);
  useKeys([
    { keys: "?", does: "List the keys", run: () => setHelp(true) },
    { keys: "/", does: "Go to the search field", run: focusSearch },
    { keys: "Escape", does: "Close what is open, leave a field" },
  ]);
  return (
    <>
      <a className="skip" href="#main">
        To the page
      </a>
      <header className="bar">
        <Link to="/" className="brand">
          Greenroom
        </Link>
        <nav aria-label="Areas" ref={areas}>
          {AREAS.map((area) => (
            <Link
              key={area.to}
              to={area.to}
              activeProps={{ "aria-current": "page" }}
              {...("also" in area && path.startsWith(area.also) ? { "aria-current": "page" } : {})}
            >
              {area.name}
            </Link>
          ))}
        </nav>
        <div className="bar-end">
          <OtherBrowser />
          <ThemeMenu />
          <button type="button" className="plain" aria-label="Keys" title="Keys (?)" onClick={() => setHelp(true)}>
            ?
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
      <KeyHelp open={help} onClose={() => setHelp(false)} />
    </>
  );
}

function focusSearch() {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  return field ?? LATER;
}

/** A screen reader and the Tab key go on at the new page, unless the page takes the focus itself. */
function useFocusAfterNavigation(path: string) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    const focused = document.activeElement;
    if (!main.current?.contains(focused) || focused === main.current) main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}

/** On a narrow screen the areas scroll: the current one is brought into view. */
function useCurrentAreaInView(path: string) {
  const areas = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: Another path has another current area.
  useEffect(() => {
    areas.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path]);
  return areas;
}
