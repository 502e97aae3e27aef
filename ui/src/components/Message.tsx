import { memo, type ReactNode } from "react";
import { isObject, parsedJson } from "../json";
import { type ChatMessage, roleOf, type ShownCall, shownMessages } from "../messages";
import { JsonView } from "./JsonView";
import { LongText } from "./LongText";
import { ToolCard } from "./ToolCard";

interface MessageProps {
  message: ChatMessage;
  /** The calls of the message with their answers; without it, those that the message names. */
  calls?: readonly ShownCall[];
  /** Still being said. */
  running?: boolean;
  /** Shown as JSON beside it. */
  raw?: boolean;
  /** The name to show in place of the role. */
  who?: string;
  /** Buttons beside the name. */
  actions?: ReactNode;
  /** Buttons beside the answer of a call. */
  resultActions?: (call: ShownCall) => ReactNode;
  /** A field for the answer of a call that has none. */
  answerField?: (call: ShownCall) => ReactNode;
}

const SIDES: Record<string, string> = { user: "theirs", assistant: "ours", system: "system", developer: "system" };
const NAMES: Record<string, string> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  developer: "Developer",
  tool: "Tool result",
};

/** A message: who says it, its text or parts, its tool calls. */
export const Message = memo(function Message(props: MessageProps) {
  const { message, running, raw, who, actions, resultActions, answerField } = props;
  const calls = props.calls ?? shownMessages([message])[0]?.calls ?? [];
  const role = roleOf(message);
  const name = who ?? NAMES[role] ?? (role || "Message");
  const refusal = typeof message.refusal === "string" ? message.refusal : "";
  const hasContent = !isEmpty(message.content) || (!calls.length && !running && !refusal);
  return (
    <div className={raw ? "message with-raw" : "message"} data-role={role}>
      <div className={`bubble ${SIDES[role] ?? "theirs"}`}>
        <div className="who">
          <span>{typeof message.name === "string" ? `${name} (${message.name})` : name}</span>
          {actions}
        </div>
        {(hasContent || running) && <Content content={message.content} running={running ?? false} />}
        {refusal && (
          <>
            <span className="badge limit">refused</span>
            <LongText text={refusal} />
          </>
        )}
        {calls.map((call, place) => (
          <ToolCard key={call.id ?? place} call={call} actions={call.answer && resultActions?.(call)}>
            {!call.answer && answerField?.(call)}
          </ToolCard>
        ))}
      </div>
      {raw && (
        <div className="raw">
          <JsonView value={message} />
        </div>
      )}
    </div>
  );
});

function isEmpty(content: unknown): boolean {
  return content === null || content === undefined || content === "" || (Array.isArray(content) && !content.length);
}

/** The content of a message: text, parts, or any JSON. */
export function Content({ content, running }: { content: unknown; running?: boolean }) {
  if (isEmpty(content)) return running ? <Text text="" running /> : <p className="quiet">(empty)</p>;
  if (typeof content === "string") return <Text text={content} running={running ?? false} />;
  if (!Array.isArray(content)) return <JsonView value={content} />;
  return content.map((part: unknown, place) => (
    // Parts have no names, and their order does not change.
    // biome-ignore lint/suspicious/noArrayIndexKey: See above.
    <Part key={place} part={part} />
  ));
}

function Text({ text, running }: { text: string; running: boolean }) {
  const json = running ? undefined : parsedJson(text);
  return json === undefined ? <LongText text={text} running={running} /> : <JsonView value={json} />;
}

const INLINE_IMAGE = /^data:image\/(png|jpeg|gif|webp);base64,/i;

function Part({ part }: { part: unknown }) {
  if (typeof part === "string") return <Text text={part} running={false} />;
  if (!isObject(part)) return <JsonView value={part} />;
  if (typeof part.text === "string" && (part.type === "text" || part.type === "input_text" || !part.type)) {
    return <Text text={part.text} running={false} />;
  }
  const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
  if (part.type === "image_url" && typeof url === "string") {
    if (INLINE_IMAGE.test(url)) {
      return (
        <p className="part-image">
          <img src={url} alt="Part of the message" />
        </p>
      );
    }
    if (/^https?:/i.test(url)) {
      return (
        <p className="part-image">
          <a href={url} target="_blank" rel="noopener noreferrer">
            Picture: {url}
          </a>
        </p>
      );
    }
  }
  return (
    <div className="part-other">
      <span className="badge">{typeof part.type === "string" ? part.type : "part"}</span>
      <JsonView value={part} depth={1} />
    </div>
  );
}
