import { type ReactNode, useMemo } from "react";
import { type ChatMessage, type ShownMessage, shownMessages } from "../messages";
import { Message } from "./Message";
import { VirtualList } from "./VirtualList";

interface TranscriptProps {
  messages: readonly ChatMessage[];
  label?: string;
  /** The index of the message to scroll to. */
  show?: number | undefined;
  /** Names in place of roles. */
  who?: (message: ChatMessage) => string | undefined;
  /** Buttons beside the name of a message. */
  actions?: (shown: ShownMessage) => ReactNode;
}

/** A conversation of any length. */
export function Transcript({ messages, label = "Conversation", show, who, actions }: TranscriptProps) {
  const items = useMemo(() => shownMessages(messages), [messages]);
  const at = show === undefined ? undefined : items.findIndex((item) => item.index >= show);
  return (
    <VirtualList
      items={items}
      keyOf={(item) => String(item.index)}
      label={label}
      show={at}
      render={(item) => {
        const name = who?.(item.message);
        return (
          <div className="transcript-item">
            <Message
              message={item.message}
              calls={item.calls}
              actions={actions?.(item)}
              {...(name === undefined ? {} : { who: name })}
            />
          </div>
        );
      }}
    />
  );
}
