import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ErrorNote } from "../../components/ErrorNote";
import { SchemaForm } from "../../components/SchemaForm";
import { isObject } from "../../json";
import { refreshThread, type ThreadHead } from "../api";
import { callAsAgent, sayAsAgent, type ThreadWorld } from "./api";

/** A person in the agent's place: they say something to the user, or call a tool. */
export function AgentForm({ head, tools }: { head: ThreadHead; tools: ThreadWorld["tools"] }) {
  const queries = useQueryClient();
  const name = useId();
  const [tool, setTool] = useState("");
  const [words, setWords] = useState("");
  const [given, setGiven] = useState<unknown>(undefined);
  const act = useMutation({
    mutationFn: () =>
      tool
        ? callAsAgent(head.id, head.version, tool, isObject(given) ? given : {})
        : sayAsAgent(head.id, head.version, words),
    onSuccess: () => {
      setWords("");
      setGiven(undefined);
    },
    onSettled: () => refreshThread(queries, head.id),
  });
  const known = tools.map(functionOf).filter((one) => one.name);
  const chosen = known.find((one) => one.name === tool);
  const running = head.running !== null;
  return (
    <form
      className="agent-form"
      onSubmit={(event) => {
        event.preventDefault();
        act.mutate();
      }}
    >
      <div className="field">
        <label htmlFor={name}>In the agent's place</label>
        <select
          id={name}
          value={tool}
          onChange={(event) => {
            setTool(event.target.value);
            setGiven(undefined);
          }}
        >
          <option value="">say something to the user</option>
          {known.map((one) => (
            <option key={one.name} value={one.name}>
              call {one.name}
            </option>
          ))}
        </select>
      </div>
      {chosen ? (
        <>
          {chosen.description && <p className="quiet">{chosen.description}</p>}
          <SchemaForm
            key={chosen.name}
            schema={chosen.parameters}
            value={given}
            onChange={setGiven}
            label={`Arguments of ${chosen.name}`}
          />
        </>
      ) : (
        <div className="field">
          <label htmlFor={`${name}-words`}>What the agent says</label>
          <textarea
            id={`${name}-words`}
            rows={2}
            value={words}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              if (words.trim() && !act.isPending) act.mutate();
            }}
          />
        </div>
      )}
      <button type="submit" disabled={act.isPending || running || (!tool && !words.trim())}>
        {tool ? "Call it" : "Say it"}
      </button>
      {act.error && <ErrorNote error={act.error} />}
    </form>
  );
}

interface Tool {
  name: string;
  description: string;
  parameters: unknown;
}

function functionOf(info: Record<string, unknown>): Tool {
  const known = isObject(info.function) ? info.function : {};
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { name: text(known.name), description: text(known.description), parameters: known.parameters };
}
