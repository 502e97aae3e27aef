import { messagesIn, shownMessages } from "../messages";
import { JsonView } from "./JsonView";
import { LongText } from "./LongText";
import { Message } from "./Message";

/** What a workflow returned, from the root: a message or several, text, or any JSON. */
export function Output({ value }: { value: unknown }) {
  const messages = messagesIn(value);
  if (messages) {
    return (
      <div className="messages">
        {shownMessages(messages).map(({ index, message, calls }) => (
          <Message key={index} message={message} calls={calls} />
        ))}
      </div>
    );
  }
  if (typeof value === "string") return value ? <LongText text={value} /> : <p className="quiet">(empty text)</p>;
  return <JsonView value={value} />;
}
