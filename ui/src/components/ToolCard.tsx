import { memo, type ReactNode } from "react";
import { briefly, isObject, parsedJson } from "../json";
import type { ShownCall } from "../messages";
import { JsonView } from "./JsonView";
import { LongText } from "./LongText";

interface ToolCardProps {
  call: ShownCall;
  /** Stands under the call, such as a field for its answer. */
  children?: ReactNode;
  badges?: ReactNode;
  /** Buttons beside the answer. */
  actions?: ReactNode;
  open?: boolean;
}

/** A call of a tool with its answer: one line that opens. */
export const ToolCard = memo(function ToolCard({ call, children, badges, actions, open }: ToolCardProps) {
  const { answer } = call;
  return (
    <details className={answer?.isError ? "call problem" : "call"} data-tool={call.name} open={open || !!children}>
      <summary>
        <code className="tool">{call.name}</code>
        {badges}
        {!answer && <span className="badge">no result</span>}
        <span className="preview">
          {briefly(call.input ?? "", 80)}
          {answer && ` → ${briefly(answer.content, 80)}`}
        </span>
      </summary>
      {call.input !== undefined && call.input !== null && (
        <div className="call-part">
          <Values value={call.input} />
        </div>
      )}
      {answer && (
        <div className="call-part answer">
          <div className="who">
            <span className="quiet">{answer.isError ? "Error" : "Result"}</span>
            {actions}
          </div>
          <ToolAnswer content={answer.content} />
        </div>
      )}
      {children}
    </details>
  );
});

/** Named values, as the report shows them; anything else as JSON. */
export function Values({ value }: { value: unknown }) {
  if (typeof value === "string") return <LongText text={value} plain />;
  const entries = isObject(value) ? Object.entries(value) : null;
  if (!entries || entries.length > 50) return <JsonView value={value} />;
  if (!entries.length) return <span className="quiet">no arguments</span>;
  return (
    <dl className="values">
      {entries.map(([name, one]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {typeof one === "object" && one !== null ? (
              <JsonView value={one} depth={1} />
            ) : typeof one === "string" && one.length > 200 ? (
              <LongText text={one} plain />
            ) : (
              <code>{typeof one === "string" ? one : JSON.stringify(one)}</code>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ToolAnswer({ content }: { content: unknown }) {
  if (typeof content !== "string") return <JsonView value={content} depth={1} />;
  if (!content) return <p className="quiet">(empty)</p>;
  const json = parsedJson(content);
  return json === undefined ? <LongText text={content} plain /> : <JsonView value={json} depth={1} />;
}
