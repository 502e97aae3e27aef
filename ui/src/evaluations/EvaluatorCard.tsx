import { useId } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { SchemaForm } from "../components/SchemaForm";
import { isObject } from "../json";
import type { ChosenEvaluator } from "./draft";
import type { EvaluatorInfo } from "./queries";

interface EvaluatorCardProps {
  chosen: ChosenEvaluator;
  info: EvaluatorInfo | undefined;
  /** What the server says is wrong with it. */
  problem: string | null;
  onChange: (next: ChosenEvaluator) => void;
  onRemove: () => void;
}

/** An evaluator of a new evaluation, with its settings as a form. */
export function EvaluatorCard({ chosen, info, problem, onChange, onRemove }: EvaluatorCardProps) {
  const ids = { title: useId(), alias: useId() };
  const properties = info && isObject(info.settings.properties) ? Object.keys(info.settings.properties) : [];
  const required = Array.isArray(info?.settings.required) && info.settings.required.length > 0;
  return (
    <section className="evaluator-card" aria-labelledby={ids.title}>
      <header>
        <h3 id={ids.title}>{chosen.name}</h3>
        <span className="quiet">{info?.summary}</span>
        <button type="button" className="plain small" aria-label={`Remove ${chosen.name}`} onClick={onRemove}>
          ×
        </button>
      </header>
      {problem && <ErrorNote error={new Error(problem)} />}
      <details open={required || Object.keys(chosen.settings).length > 0 || chosen.alias !== "" || problem !== null}>
        <summary>{properties.length ? "Settings" : "Name"}</summary>
        <div className="field">
          <div className="field-head">
            <label htmlFor={ids.alias}>Name of its scores</label>
            <span className="hint">by default {chosen.name}</span>
          </div>
          <input
            id={ids.alias}
            value={chosen.alias}
            placeholder={chosen.name}
            onChange={(event) => onChange({ ...chosen, alias: event.target.value })}
          />
        </div>
        {info && properties.length > 0 && (
          <SchemaForm
            schema={info.settings}
            value={chosen.settings}
            label={`Settings of ${chosen.name}`}
            onChange={(settings) => onChange({ ...chosen, settings: isObject(settings) ? settings : {} })}
          />
        )}
      </details>
    </section>
  );
}
