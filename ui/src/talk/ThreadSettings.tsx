import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../components/Dialog";
import { ErrorNote } from "../components/ErrorNote";
import { SchemaForm } from "../components/SchemaForm";
import { isObject } from "../json";
import { changeThread, refreshBoard, refreshThread, type ThreadChange, type ThreadHead, workflowsQuery } from "./api";
import { useWorkflow } from "./useWorkflow";

interface ThreadSettingsProps {
  head: ThreadHead;
  open: boolean;
  onClose: () => void;
}

/** Title, workflow, parameters and inputs of a thread. */
export function ThreadSettings({ head, open, onClose }: ThreadSettingsProps) {
  return (
    <Dialog title="Settings of the thread" open={open} onClose={onClose}>
      <Settings head={head} onClose={onClose} />
    </Dialog>
  );
}

function Settings({ head, onClose }: Omit<ThreadSettingsProps, "open">) {
  const queries = useQueryClient();
  const [title, setTitle] = useState(head.title);
  const [address, setAddress] = useState(head.address);
  const [parameters, setParameters] = useState<unknown>(head.parameters ?? undefined);
  const [inputs, setInputs] = useState<unknown>(head.inputs);
  const list = useQuery(workflowsQuery);
  const workflow = useWorkflow(address);
  const change = useMutation({
    mutationFn: () => {
      const next: ThreadChange = { version: head.version };
      if (title !== head.title) next.title = title;
      if (address !== head.address) next.address = address;
      // Only what is different is sent: a form that nobody edits changes nothing.
      if (parameters !== (head.parameters ?? undefined)) next.parameters = isObject(parameters) ? parameters : null;
      if (inputs !== head.inputs) next.inputs = isObject(inputs) ? inputs : {};
      return changeThread(head.id, next);
    },
    onSuccess: onClose,
    onSettled: () => Promise.all([refreshThread(queries, head.id), refreshBoard(queries, head.board_id)]),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <div className="field">
        <label htmlFor="thread-title">Title</label>
        <input id="thread-title" value={title} onChange={(event) => setTitle(event.target.value)} />
      </div>
      <div className="field">
        <label htmlFor="thread-workflow">Workflow</label>
        <select id="thread-workflow" value={address} onChange={(event) => setAddress(event.target.value)}>
          {!list.data?.items.some((one) => one.address === address) && <option value={address}>{address}</option>}
          {list.data?.items.map((one) => (
            <option key={one.address} value={one.address}>
              {one.name}
            </option>
          ))}
        </select>
      </div>
      <h3>Parameters</h3>
      <SchemaForm
        label="Parameters"
        schema={parametersSchema(workflow?.schemas.parameters, workflow?.parameters)}
        value={parameters}
        onChange={setParameters}
      />
      <h3>Inputs</h3>
      <SchemaForm
        label="Inputs"
        schema={workflow?.schemas.inputs ?? { type: "object" }}
        value={inputs}
        onChange={setInputs}
        without={["messages"]}
      />
      {change.error && <ErrorNote error={change.error} />}
      <div className="dialog-buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="main" disabled={change.isPending}>
          Save
        </button>
      </div>
    </form>
  );
}

/** The schema of the parameters; the workflow's own configuration gives the defaults. */
export function parametersSchema(schema: unknown, defaults: unknown): unknown {
  const known = isObject(defaults) ? defaults : {};
  if (!isObject(schema) || !isObject(schema.properties)) {
    const properties = Object.fromEntries(Object.entries(known).map(([name, value]) => [name, guessed(value)]));
    return { type: "object", properties };
  }
  const properties = Object.entries(schema.properties).map(([name, one]): [string, unknown] => [
    name,
    isObject(one) && name in known && !("default" in one) ? { ...one, default: known[name] } : one,
  ]);
  // Each parameter has a default in the workflow: none has to be set here.
  return { ...schema, properties: Object.fromEntries(properties), required: [] };
}

function guessed(value: unknown): unknown {
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? { type, default: value } : { default: value };
}
