import { memo, useState } from "react";
import { sizeWords } from "../json";
import { Markdown } from "./Markdown";

/** So much of a text is drawn as Markdown: each paragraph of it is an element. */
const FIRST = 12_000;
const STEP = 100_000;

interface LongTextProps {
  text: string;
  /** Drawn as it is, in a fixed width. */
  plain?: boolean;
  running?: boolean;
}

/** A text of any length. A long one is cut; the rest comes in steps, each of which is one piece of plain text. */
export const LongText = memo(function LongText({ text, plain, running }: LongTextProps) {
  const [shown, setShown] = useState(FIRST);
  const draw = (part: string) =>
    plain ? <pre className="plain-text">{part}</pre> : <Markdown text={part} running={running ?? false} />;
  if (text.length <= FIRST * 1.25) return draw(text);
  const first = cutAt(text, FIRST);
  const rest = text.slice(first, cutAt(text, shown));
  const left = text.length - first - rest.length;
  return (
    <>
      {draw(text.slice(0, first))}
      {rest && <pre className="plain-text long-rest">{rest}</pre>}
      {left > 0 && (
        <div className="cut-text">
          <span className="quiet">
            {sizeWords(first + rest.length)} of {sizeWords(text.length)} are shown.
          </span>
          <button type="button" className="small" onClick={() => setShown(shown + STEP)}>
            {left > STEP ? "Show more" : "Show all"}
          </button>
        </div>
      )}
    </>
  );
});

/** A place near `at` where a text can be cut: after a line if one ends there, never within a character. */
export function cutAt(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const line = text.lastIndexOf("\n", at);
  if (line > at - 2000 && line > 0) return line;
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}
