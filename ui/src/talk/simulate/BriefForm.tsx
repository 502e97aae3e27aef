import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { simulatedUsersQuery } from "./api";
import type { Brief } from "./brief";

interface BriefFormProps {
  brief: Brief;
  onChange: (brief: Brief) => void;
  hasTask: boolean;
  disabled: boolean;
}

/** Who the user is and what they want. */
export function BriefForm({ brief, onChange, hasTask, disabled }: BriefFormProps) {
  const kinds = useQuery(simulatedUsersQuery).data;
  const change = (part: Partial<Brief>) => onChange({ ...brief, ...part });
  const chosen = kinds?.items.find((one) => one.name === brief.user);
  const asksModel = chosen?.needs_model ?? true;
  return (
    <fieldset className="simulate-brief" disabled={disabled}>
      <legend className="hidden-label">Who the user is and what they want</legend>
      <Field label="User">
        {(id) => (
          <select id={id} value={brief.user} onChange={(event) => change({ user: event.target.value })}>
            {hasTask && <option value="">as the run had it</option>}
            {kinds?.items.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {asksModel && (
        <>
          <Field label="Model">
            {(id) => <input id={id} value={brief.model} onChange={(event) => change({ model: event.target.value })} />}
          </Field>
          <Field label="Provider">
            {(id) => (
              <input id={id} value={brief.provider} onChange={(event) => change({ provider: event.target.value })} />
            )}
          </Field>
          <Field label="Server">
            {(id) => (
              <input
                id={id}
                type="url"
                placeholder="http://127.0.0.1:8000/v1"
                value={brief.server}
                onChange={(event) => change({ server: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
      {asksModel && <p className="quiet wide">Keys come from the environment. A server is one on this machine.</p>}
      <Field label="Wants" wide>
        {(id) => (
          <select
            id={id}
            value={brief.wants}
            onChange={(event) => {
              const wants = (["goal", "task", "own"] as const).find((one) => one === event.target.value);
              if (wants) change({ wants });
            }}
          >
            {hasTask && <option value="own">what the task of this thread says</option>}
            <option value="goal">a goal that I write</option>
            <option value="task">a task of a domain</option>
          </select>
        )}
      </Field>
      <Field label="Most messages">
        {(id) => (
          <input
            id={id}
            type="number"
            min={1}
            max={200}
            value={brief.turns}
            onChange={(event) => change({ turns: event.target.value })}
          />
        )}
      </Field>
      {brief.wants === "goal" && (
        <>
          <Field label="Goal" wide>
            {(id) => (
              <textarea
                id={id}
                rows={2}
                value={brief.goal}
                onChange={(event) => change({ goal: event.target.value })}
              />
            )}
          </Field>
          <Field label="Persona" wide>
            {(id) => (
              <textarea
                id={id}
                rows={2}
                value={brief.persona}
                onChange={(event) => change({ persona: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
      {brief.wants === "task" && (
        <>
          <Field label="Domain">
            {(id) => (
              <select id={id} value={brief.env} onChange={(event) => change({ env: event.target.value })}>
                {kinds?.domains.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Task">
            {(id) => (
              <input
                id={id}
                type="number"
                min={0}
                value={brief.task}
                onChange={(event) => change({ task: event.target.value })}
              />
            )}
          </Field>
        </>
      )}
    </fieldset>
  );
}

interface FieldProps {
  label: string;
  wide?: boolean;
  children: (id: string) => ReactNode;
}

function Field({ label, wide, children }: FieldProps) {
  const id = useId();
  return (
    <div className={wide ? "field wide" : "field"}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}
