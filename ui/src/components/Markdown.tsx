import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { blocksOf } from "../markdown";

const PLUGINS = [remarkGfm];
const SAFE_LINK = /^(https?:|mailto:)/i;
const SAFE_IMAGE = /^data:image\/(png|jpeg|gif|webp);/i;

/** Addresses that a link or an image may have; any other is dropped. */
export function safeUrl(url: string): string {
  return SAFE_LINK.test(url) || SAFE_IMAGE.test(url) ? url : "";
}

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href && SAFE_LINK.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // A picture from elsewhere would tell its server that somebody reads this: it is a link.
  img: ({ src, alt }) => {
    if (typeof src === "string" && SAFE_IMAGE.test(src)) return <img src={src} alt={alt ?? ""} />;
    return typeof src === "string" && SAFE_LINK.test(src) ? (
      <a href={src} target="_blank" rel="noopener noreferrer">
        Picture: {alt || src}
      </a>
    ) : (
      <span>{alt}</span>
    );
  },
  // Headings of a message are no headings of the page.
  h1: ({ children }) => <p className="heading">{children}</p>,
  h2: ({ children }) => <p className="heading">{children}</p>,
  h3: ({ children }) => <p className="heading">{children}</p>,
  h4: ({ children }) => <p className="heading">{children}</p>,
  h5: ({ children }) => <p className="heading">{children}</p>,
  h6: ({ children }) => <p className="heading">{children}</p>,
  input: ({ checked }) => <span>{checked ? "☑ " : "☐ "}</span>,
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <pre tabIndex={0}>{children}</pre>
  ),
};

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={safeUrl}>
      {text}
    </ReactMarkdown>
  );
});

/** Markdown without raw HTML. While a text grows, only its last block is drawn anew. */
export const Markdown = memo(function Markdown({ text, running }: { text: string; running?: boolean }) {
  if (!running) {
    return (
      <div className="prose">
        <Block text={text} />
      </div>
    );
  }
  return (
    <div className="prose running">
      {blocksOf(text).map((block) => (
        <Block key={block.start} text={block.text} />
      ))}
    </div>
  );
});
