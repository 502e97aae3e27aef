import { useState } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { Menu, MenuItem, MenuLine } from "../components/Menu";
import { briefly } from "../json";
import { useThreadActions } from "./actions";
import type { ThreadHead } from "./api";
import { parameterWords } from "./parameters";
import { ThreadSettings } from "./ThreadSettings";
import { shortName, useWorkflow, useWorkflowProblem } from "./useWorkflow";
import { hasWorld } from "./world/api";

interface ThreadBarProps {
  head: ThreadHead;
  active: boolean;
  /** Show or hide a panel beside the thread. */
  onPanel: (panel: "simulate" | "world") => void;
  onRemoved: (thread: ThreadHead) => void;
}

/** The head of a thread: its workflow, its parameters, and what can be done with all of it. */
export function ThreadBar({ head, active, onPanel, onRemoved }: ThreadBarProps) {
  const actions = useThreadActions(head);
  const workflow = useWorkflow(head.address);
  const missing = useWorkflowProblem(head.address);
  const problem = workflow ? workflow.error : missing;
  const [settings, setSettings] = useState(false);
  const parameters = parameterWords(head.parameters);
  const name = workflow?.name ?? shortName(head.address);
  const facts = [head.title && name, briefly(parameters, 60), head.parent && "a branch"];
  const remove = async () => {
    await actions.remove();
    onRemoved(head);
  };
  return (
    <header className={active ? "thread-bar current" : "thread-bar"} data-thread={head.id}>
      <div className="thread-names">
        <h2 title={head.address}>{head.title || name}</h2>
        <span className="quiet" title={parameters}>
          {facts.filter(Boolean).join(" · ")}
        </span>
        {head.treat_as && workflow && (head.treat_as === "chat") !== workflow.is_chat && (
          <span className="badge limit" title="The workflow itself says otherwise">
            treated as {head.treat_as}
          </span>
        )}
        {problem && <span className="badge bad">cannot be reached</span>}
      </div>
      <div className="thread-buttons">
        <button
          type="button"
          className="plain small"
          aria-label="Undo"
          title="Undo"
          onClick={actions.undo}
          disabled={!head.can_undo || actions.busy}
        >
          ↶
        </button>
        <button
          type="button"
          className="plain small"
          aria-label="Redo"
          title="Redo"
          onClick={actions.redo}
          disabled={!head.can_redo || actions.busy}
        >
          ↷
        </button>
        <button type="button" className="plain small" onClick={() => setSettings(true)}>
          Settings
        </button>
        <Menu label="More for this thread" trigger="⋯" plain small>
          <MenuItem onSelect={actions.duplicate}>Duplicate</MenuItem>
          <MenuItem onSelect={() => onPanel("simulate")}>Simulated user</MenuItem>
          {hasWorld(head.address) && <MenuItem onSelect={() => onPanel("world")}>World</MenuItem>}
          <MenuLine />
          <MenuItem onSelect={() => void remove().catch(() => undefined)}>Delete</MenuItem>
        </Menu>
      </div>
      {problem && <ErrorNote error={problem} />}
      {actions.error && <ErrorNote error={actions.error} />}
      <ThreadSettings head={head} open={settings} onClose={() => setSettings(false)} />
    </header>
  );
}
