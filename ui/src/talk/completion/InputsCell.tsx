import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";
import { ErrorNote } from "../../components/ErrorNote";
import { JsonView } from "../../components/JsonView";
import { SchemaForm } from "../../components/SchemaForm";
import { briefly, isObject, type JsonObject } from "../../json";
import { isMessage, roleOf, textOf } from "../../messages";
import { refreshBoard, runScope, type ThreadHead, type Workflow } from "../api";
import { changeInputs, inputsSchema, inputWords } from "./data";

interface InputsCellProps {
  /** The threads of the row; all get the same inputs. */
  heads: readonly ThreadHead[];
  /** Those of the row's columns. */
  workflows: readonly Workflow[];
  editing: boolean;
  /** What is typed into forms that are open, by the row's first thread. */
  typed: Map<string, JsonObject>;
  onEdit: () => void;
  onLeave: () => void;
  onRun: () => void;
}

/** The inputs of a row: shown, or as a form made from the workflow's schema. */
export function InputsCell({ heads, workflows, editing, typed, onEdit, onLeave, onRun }: InputsCellProps) {
  const [head] = heads;
  if (!head) return null;
  if (editing) return <InputsForm key={head.id} {...{ head, heads, workflows, typed, onLeave, onRun }} />;
  const names = Object.keys(head.inputs);
  const said = inputWords(head);
  return (
    <div className="inputs-cell">
      <div className="inputs-part">
        {names.map((name) => (
          <ShortInput key={name} name={name} value={head.inputs[name]} />
        ))}
        {!names.length && (said ? <p>{briefly(said, 400)}</p> : <p className="quiet">no inputs yet</p>)}
      </div>
      <div className="output-foot">
        <button type="button" className="small" onClick={onEdit}>
          Edit
        </button>
        <button type="button" className="small" onClick={onRun}>
          Run the row
        </button>
        {head.row_number !== null && <span className="quiet">row {head.row_number + 1} of the test set</span>}
      </div>
    </div>
  );
}

function ShortInput({ name, value }: { name: string; value: unknown }) {
  const messages = Array.isArray(value) && value.length > 0 && value.every(isMessage) ? value : null;
  return (
    <div className="short-input">
      <span className="quiet">{name}</span>{" "}
      {messages ? (
        messages.slice(-3).map((message, place) => (
          // Messages have no names, and their order does not change.
          // biome-ignore lint/suspicious/noArrayIndexKey: See above.
          <p key={place}>
            <span className="quiet">{roleOf(message)}</span> {briefly(textOf(message), 200)}
          </p>
        ))
      ) : typeof value === "object" && value !== null ? (
        <JsonView value={value} depth={0} />
      ) : (
        briefly(value, 400)
      )}
    </div>
  );
}

interface InputsFormProps extends Omit<InputsCellProps, "editing" | "onEdit"> {
  head: ThreadHead;
}

function InputsForm({ head, heads, workflows, typed, onLeave, onRun }: InputsFormProps) {
  const queries = useQueryClient();
  const [inputs, setInputs] = useState<JsonObject>(typed.get(head.id) ?? head.inputs);
  const change = (next: unknown) => {
    const found = isObject(next) ? next : {};
    typed.set(head.id, found);
    setInputs(found);
  };
  const save = useMutation({
    // A run that is asked for meanwhile gets these inputs.
    scope: { id: runScope(head.board_id) },
    mutationFn: async (run: boolean) => {
      if (inputs !== head.inputs) await changeInputs(heads, inputs);
      return run;
    },
    onSuccess: (run) => {
      onLeave();
      if (run) onRun();
    },
    onSettled: () => refreshBoard(queries, head.board_id),
  });
  const form = useRef<HTMLDivElement>(null);
  const keep = (run: boolean) => {
    // What cannot be understood yet is shown, not dropped.
    const wrong = form.current?.querySelector<HTMLInputElement>("input:invalid, textarea:invalid");
    if (wrong) wrong.reportValidity();
    else save.mutate(run);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onLeave();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: The keys of the fields within.
    <div className="inputs-form" onKeyDown={onKeyDown} ref={form}>
      <SchemaForm
        label="Inputs"
        schema={inputsSchema(workflows, inputs)}
        value={inputs}
        onChange={change}
        disabled={save.isPending}
      />
      {save.error && <ErrorNote error={save.error} />}
      <div className="output-foot">
        <button type="button" className="main small" disabled={save.isPending} onClick={() => keep(true)}>
          Save and run
        </button>
        <button type="button" className="small" disabled={save.isPending} onClick={() => keep(false)}>
          Save
        </button>
        <button type="button" className="small plain" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </div>
  );
}
