import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useId, useState } from "react";
import { api, errorText, got } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { SchemaForm } from "../components/SchemaForm";
import { isObject } from "../json";
import { useKeys } from "../keys";
import { withField } from "../schema";
import { TestSetChoice, WorkflowChoice } from "./choices";
import { blamed, type Draft, draftLike, forget, keep, kept, missing, requestOf, withEvaluator } from "./draft";
import { EvaluatorCard } from "./EvaluatorCard";
import { type EvaluatorInfo, evaluationQuery, evaluatorsQuery, workflowsQuery } from "./queries";
import "./evaluations.css";

const route = getRouteApi("/evaluations/new");

/** A new evaluation: workflow, test set, evaluators with their settings, and options. */
export function NewEvaluationPage() {
  const { like, workflow, test_set } = route.useSearch();
  const evaluators = useQuery(evaluatorsQuery);
  const model = useQuery({ ...evaluationQuery(like ?? ""), enabled: like !== undefined });
  const error = evaluators.error ?? model.error;
  const ready = evaluators.data && (like === undefined || model.data);
  let start: Draft | null = null;
  if (ready) {
    const names = isObject(evaluators.data.options.properties) ? Object.keys(evaluators.data.options.properties) : [];
    start = model.data ? draftLike(model.data, names) : kept();
    if (workflow) start = { ...start, workflow };
    if (test_set) start = { ...start, testSet: test_set };
  }
  return (
    <Page title="New evaluation" above={<Link to="/evaluations">Evaluations</Link>} narrow>
      {error && <ErrorNote error={error} onRetry={() => void evaluators.refetch()} />}
      {!start && !error && <Loading what="the evaluators" />}
      {start && evaluators.data && <Form start={start} {...evaluators.data} />}
    </Page>
  );
}

interface FormProps {
  start: Draft;
  items: readonly EvaluatorInfo[];
  /** Their JSON schema. */
  options: Record<string, unknown>;
}

function Form({ start, items, options }: FormProps) {
  const [draft, setDraft] = useState(start);
  const ids = { name: useId(), add: useId() };
  const navigate = useNavigate();
  const queries = useQueryClient();
  const workflows = useQuery(workflowsQuery);
  useEffect(() => keep(draft), [draft]);
  const run = useMutation({
    mutationFn: () => got(api.POST("/api/v1/evaluations", { body: requestOf(draft) })),
    onSuccess: (started) => {
      forget();
      void queries.invalidateQueries({ queryKey: ["evaluations", "list"] });
      queries.setQueryData(evaluationQuery(started.key).queryKey, started);
      void navigate({ to: "/evaluations/$name", params: { name: started.key } });
    },
  });
  const change = (part: Partial<Draft>) => {
    run.reset();
    setDraft((now) => ({ ...now, ...part }));
  };
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const lacks = missing(draft);
    setWrong(lacks);
    if (!lacks && !run.isPending) run.mutate();
  };
  useKeys([{ keys: "Mod+Enter", does: "Run the evaluation", run: () => submit(), inFields: true }]);
  const chosen = workflows.data?.items.find((one) => one.address === draft.workflow);
  const told = run.error ? errorText(run.error) : null;
  const place = told === null ? -1 : blamed(draft, told);
  return (
    <form className="evaluation-form" noValidate onSubmit={submit}>
      <WorkflowChoice value={draft.workflow} onChoose={(address) => change({ workflow: address })} />
      {chosen?.schemas?.parameters && (
        <details className="form-part">
          <summary>Parameters of {chosen.name}</summary>
          <SchemaForm
            schema={chosen.schemas.parameters}
            value={draft.options.parameters ?? {}}
            label={`Parameters of ${chosen.name}`}
            onChange={(value) => {
              const empty = isObject(value) && !Object.keys(value).length;
              change({ options: withField(draft.options, "parameters", empty ? undefined : value) });
            }}
          />
        </details>
      )}
      <TestSetChoice value={draft.testSet} onChoose={(testSet) => change({ testSet })} />
      <fieldset className="form-part">
        <legend>Evaluators</legend>
        {!draft.evaluators.length && (
          <p className="quiet">Choose how outputs are scored, unless the rows of the test set name evaluators.</p>
        )}
        {draft.evaluators.map((one, at) => (
          <EvaluatorCard
            key={one.id}
            chosen={one}
            info={items.find((info) => info.name === one.name)}
            problem={at === place ? told : null}
            onChange={(next) => change({ evaluators: draft.evaluators.with(at, next) })}
            onRemove={() => change({ evaluators: draft.evaluators.filter((other) => other.id !== one.id) })}
          />
        ))}
        <div className="field">
          <label htmlFor={ids.add}>Add an evaluator</label>
          <select
            id={ids.add}
            value=""
            onChange={(event) => event.target.value && change(withEvaluator(draft, event.target.value))}
          >
            <option value="">choose one</option>
            {items.map((info) => (
              <option key={info.name} value={info.name}>
                {info.summary ? `${info.name}: ${info.summary}` : info.name}
              </option>
            ))}
          </select>
        </div>
      </fieldset>
      <div className="field">
        <div className="field-head">
          <label htmlFor={ids.name}>Name of the evaluation</label>
          <span className="hint">one is made up otherwise</span>
        </div>
        <input
          id={ids.name}
          value={draft.name}
          maxLength={200}
          onChange={(event) => change({ name: event.target.value })}
        />
      </div>
      <details className="form-part">
        <summary>Options: rows, repeats, gates, judge, budget …</summary>
        <SchemaForm
          schema={options}
          value={draft.options}
          label="Options"
          without={["parameters"]}
          onChange={(value) => change({ options: isObject(value) ? value : {} })}
        />
      </details>
      {wrong && <ErrorNote error={new Error(wrong)} />}
      {told !== null && place < 0 && <ErrorNote error={new Error(told)} />}
      <div className="form-end">
        <button type="submit" className="main" disabled={run.isPending}>
          {run.isPending ? "Starting …" : "Run"}
        </button>
        <span className="quiet">
          Everything is checked before anything is called. It goes on when the page is closed.
        </span>
      </div>
    </form>
  );
}
