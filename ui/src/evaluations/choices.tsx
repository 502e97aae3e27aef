import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { NameChoice, useTyped } from "../components/NameChoice";
import { workflowWords } from "./parts";
import { evaluationsQuery, testSetsQuery, workflowsQuery } from "./queries";

interface ChoiceProps {
  value: string;
  onChoose: (value: string) => void;
}

/** One of the playground's workflows. */
export function WorkflowChoice({ value, onChoose }: ChoiceProps) {
  const id = useId();
  const found = useQuery(workflowsQuery);
  // Agents of the benchmark are measured on tasks, not on rows.
  const known = found.data?.items.filter((one) => one.kind !== "agent") ?? [];
  const chosen = known.find((one) => one.address === value);
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>Workflow</label>
        {chosen && (
          <span className="hint">
            {chosen.is_chat ? "chat" : "completion"}
            {chosen.description ? `: ${chosen.description}` : ""}
          </span>
        )}
      </div>
      <select id={id} value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{found.isPending ? "looking for workflows …" : "choose one"}</option>
        {known.map((one) => (
          <option key={one.address} value={one.address}>
            {one.name === workflowWords(one.address) ? one.name : `${one.name} (${workflowWords(one.address)})`}
            {one.error ? " – cannot be reached now" : ""}
          </option>
        ))}
        {value && !chosen && <option value={value}>{workflowWords(value)}</option>}
      </select>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {chosen?.error && <p className="field-problem">{chosen.error}</p>}
      {found.data && !known.length && (
        <p className="hint">
          There are no workflows yet. <Link to="/workflows">Add one by its address</Link>, or name its file when the
          playground starts: <code>greenroom playground app.py</code>
        </p>
      )}
    </div>
  );
}

/** A test set of the store, and which of its versions. */
export function TestSetChoice({ value, onChoose }: ChoiceProps) {
  const ids = { field: useId(), names: useId() };
  const name = value.replace(/@\d*$/, "");
  const found = useQuery(testSetsQuery(name));
  const sets = found.data?.items ?? [];
  const chosen = sets.find((one) => one.name === name);
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={ids.field}>Test set</label>
        {chosen ? (
          <span className="hint">
            {chosen.row_count.toLocaleString("en")} rows; columns {chosen.columns.map((one) => one.name).join(", ")}
          </span>
        ) : (
          <span className="hint">its name, or name@version; without a version, the latest</span>
        )}
      </div>
      <input
        id={ids.field}
        list={ids.names}
        value={value}
        placeholder="name of a test set"
        autoComplete="off"
        onChange={(event) => onChoose(event.target.value)}
      />
      <datalist id={ids.names}>
        {sets.map((one) => (
          <option key={one.name} value={one.name}>{`${one.row_count} rows`}</option>
        ))}
      </datalist>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.data && !sets.length && (
        <p className="hint">
          {name ? `No test set has “${name}” in its name. ` : "There are no test sets yet. "}
          <Link to="/test-sets">See all test sets, or import one.</Link>
        </p>
      )}
    </div>
  );
}

interface EvaluationChoiceProps {
  label: string;
  value: string | undefined;
  /** Only evaluations of this test set are suggested. */
  testSet: string | undefined;
  onChoose: (name: string) => void;
}

/** An evaluation by its name. */
export function EvaluationChoice({ label, value, testSet, onChoose }: EvaluationChoiceProps) {
  const typed = useTyped(value);
  const found = useInfiniteQuery(evaluationsQuery(typed.asked, testSet));
  const suggestions = (found.data?.pages[0]?.items ?? []).map((one) => ({
    name: one.key,
    words: `${workflowWords(one.workflow)}, ${one.test_set}@${one.version}`,
  }));
  return (
    <NameChoice
      label={label}
      typed={typed}
      placeholder="name of an evaluation"
      suggestions={suggestions}
      onChoose={onChoose}
    />
  );
}
