import { useEffect, useRef, useState } from "react";
import type { ThreadHead } from "../api";
import { SimulatePanel } from "../simulate/SimulatePanel";
import { hasWorld } from "./api";
import { WorldPanel } from "./WorldPanel";
import "./world.css";

type Panel = "simulate" | "world";

/** Which panels are shown beside threads. The world of a stored episode, or of a simulated user, is shown at first. */
export function usePanels() {
  const [set, setSet] = useState<Readonly<Record<string, boolean>>>({});
  const shown = (head: ThreadHead, panel: Panel) =>
    set[`${panel} ${head.id}`] ??
    (panel === "world" && (head.address.startsWith("episode:") || set[`simulate ${head.id}`] === true));
  const toggle = (head: ThreadHead, panel: Panel) =>
    setSet((before) => ({ ...before, [`${panel} ${head.id}`]: !shown(head, panel) }));
  /** Changes whenever somebody opens or closes a panel. */
  const opened = Object.values(set).some(Boolean) ? set : null;
  return { shown, toggle, opened };
}

interface SidePanelsProps {
  heads: readonly ThreadHead[];
  panels: ReturnType<typeof usePanels>;
}

/** The simulated users and the worlds of threads, beside them. */
export function SidePanels({ heads, panels }: SidePanelsProps) {
  const aside = useRef<HTMLElement>(null);
  const { opened } = panels;
  useEffect(() => {
    // On a phone panels stand below the conversation: whoever opens one is taken there.
    if (opened) aside.current?.scrollIntoView({ block: "start" });
  }, [opened]);
  const open = heads.filter((head) => panels.shown(head, "simulate") || showsWorld(head, panels));
  if (!open.length) return null;
  return (
    <aside className="side-panels" ref={aside} aria-label="Beside the conversation">
      {open.map((head) => (
        <div key={head.id}>
          {heads.length > 1 && <p className="quiet">{head.title || `Column ${head.column + 1}`}</p>}
          {panels.shown(head, "simulate") && (
            <SimulatePanel
              thread={head.id}
              hasTask={hasWorld(head.address)}
              onClose={() => panels.toggle(head, "simulate")}
            />
          )}
          {showsWorld(head, panels) && <WorldPanel head={head} onClose={() => panels.toggle(head, "world")} />}
        </div>
      ))}
    </aside>
  );
}

function showsWorld(head: ThreadHead, panels: SidePanelsProps["panels"]): boolean {
  return hasWorld(head.address) && panels.shown(head, "world");
}
