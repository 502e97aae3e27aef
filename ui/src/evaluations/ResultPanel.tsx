import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef } from "react";
import { api, got } from "../api/client";
import { CopyButton } from "../components/CopyButton";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { NoteButton } from "../notes/NoteButton";
import { AddToTestSet } from "../testsets/AddToTestSet";
import { copyForms } from "./copies";
import { Outcome } from "./parts";
import { type Evaluation, type Result, resultQuery } from "./queries";
import { ResultBody } from "./ResultBody";

interface ResultPanelProps {
  name: string;
  one: Evaluation;
  item: number;
  trial: number;
  onTrial: (trial: number) => void;
  /** To the next or the one before; undefined where there is no other. */
  onMove: ((by: number) => void) | undefined;
  onClose: () => void;
}

/** A result beside the table: its conversation, its scores, and what was compared with what. */
export function ResultPanel({ name, one, item, trial, onTrial, onMove, onClose }: ResultPanelProps) {
  const title = useId();
  const panel = useRef<HTMLElement>(null);
  const found = useQuery(resultQuery(name, item, trial));
  const loaded = !found.isPending;
  // biome-ignore lint/correctness/useExhaustiveDependencies: Another result is read from its beginning.
  useEffect(() => {
    // On a narrow screen it takes the place of the table.
    const block = window.matchMedia("(max-width: 900px)").matches ? "start" : "nearest";
    panel.current?.scrollTo(0, 0);
    if (loaded) panel.current?.scrollIntoView({ block });
  }, [item, trial, loaded]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <aside className="result-panel" aria-labelledby={title} ref={panel} tabIndex={0}>
      <header>
        <h2 id={title}>{found.data?.label ?? `row ${item + 1}`}</h2>
        {found.data && <Outcome one={found.data.outcome} />}
        <span className="panel-buttons">
          {onMove && (
            <>
              <button type="button" className="small plain" onClick={() => onMove(-1)} title="k">
                Before
              </button>
              <button type="button" className="small plain" onClick={() => onMove(1)} title="j">
                Next
              </button>
            </>
          )}
          <button type="button" className="small plain" aria-label="Close the result" onClick={onClose}>
            ×
          </button>
        </span>
      </header>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the result" />}
      {found.data && (
        <>
          <div className="tools">
            <AddToTestSet source={{ kind: "result", evaluation: one.id, row: item, repeat: trial }} />
            <NoteButton subject={{ evaluation: name, item, trial }} />
            <OpenAsThread one={one} result={found.data} />
            <CopyButton forms={copyForms(name, found.data)} />
            {found.data.trials.length > 1 && (
              <label>
                Repeat
                <select value={trial} onChange={(event) => onTrial(Number(event.target.value))}>
                  {found.data.trials.map((other) => (
                    <option key={other} value={other}>
                      {other + 1}
                    </option>
                  ))}
                </select>
              </label>
            )}
          </div>
          <ResultBody result={found.data} />
        </>
      )}
    </aside>
  );
}

/** Goes on with the row on a board: the conversation so far, or the same inputs. */
function OpenAsThread({ one, result }: { one: Evaluation; result: Result }) {
  const navigate = useNavigate();
  const open = useMutation({
    mutationFn: () => {
      const { workflow, parameters } = one.config;
      const thread = {
        address: typeof workflow === "string" ? workflow : one.workflow,
        title: `${one.name}, ${result.label}`.slice(0, 200),
        ...(parameters && typeof parameters === "object" ? { parameters: { ...parameters } } : {}),
        ...(result.messages ? { messages: result.messages } : { inputs: result.inputs }),
      };
      return got(api.POST("/api/v1/boards", { body: { title: thread.title, threads: [thread] } }));
    },
    onSuccess: (board) => void navigate({ to: "/boards/$board", params: { board: board.id } }),
  });
  return (
    <>
      <button type="button" className="small plain" disabled={open.isPending} onClick={() => open.mutate()}>
        Open as a thread
      </button>
      {open.error && <ErrorNote error={open.error} />}
    </>
  );
}
