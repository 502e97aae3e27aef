import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { cutAt } from "../src/components/LongText";
import { safeUrl } from "../src/components/Markdown";
import { Message } from "../src/components/Message";
import { Output } from "../src/components/Output";
import { blocksOf } from "../src/markdown";
import { messagesIn, shownMessages, toolMessage, unanswered } from "../src/messages";
import { resultMessages } from "../src/talk/ToolAnswerField";

const call = (id: string, name = "find") => ({ id, type: "function", function: { name, arguments: '{"a": 1}' } });

describe("messages in a list", () => {
  test("a tool's answer stands with its call", () => {
    const messages = [
      { role: "assistant", content: null, tool_calls: [call("1"), call("2")] },
      { role: "tool", tool_call_id: "2", content: "Error: no" },
      { role: "assistant", content: "Done" },
      { role: "tool", tool_call_id: "9", content: "of nobody" },
    ];
    const shown = shownMessages(messages);
    expect(shown.map((one) => one.index)).toEqual([0, 2, 3]);
    expect(shown[0]?.calls[0]).toEqual({ id: "1", name: "find", input: { a: 1 }, answer: null });
    expect(shown[0]?.calls[1]?.answer).toEqual({ index: 1, content: "Error: no", isError: true });
    expect(unanswered(messages).map((one) => one.id)).toEqual(["1"]);
  });

  test("a call without an id is answered by its name", () => {
    const messages = [
      { role: "assistant", content: "", tool_calls: [{ function: { name: "look", arguments: "{}" } }] },
    ];
    const [open] = unanswered(messages);
    expect(open && toolMessage(open, "found")).toEqual({ role: "tool", name: "look", content: "found" });
  });

  test("an empty text and a refusal are told", () => {
    const drawn = (message: object) => renderToStaticMarkup(<Message message={{ role: "assistant", ...message }} />);
    expect(drawn({ content: "" })).toContain("(empty)");
    const refused = drawn({ content: null, refusal: "I cannot do that." });
    expect(refused).toContain("I cannot do that.");
    expect(refused).not.toContain("(empty)");
  });

  test("every message is shown once, whatever it is", () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (messages) => {
        const shown = shownMessages(messages);
        const answers = shown.flatMap(({ calls }) => calls.flatMap((one) => one.answer?.index ?? []));
        const places = [...shown.map((one) => one.index), ...answers].sort((a, b) => a - b);
        expect(places).toEqual(messages.map((_, place) => place));
      }),
    );
  });

  test("outputs are messages only if all of them are", () => {
    expect(messagesIn({ role: "assistant", content: "a" })).toHaveLength(1);
    expect(messagesIn([{ role: "assistant", content: "a" }, 5])).toBeNull();
    expect(messagesIn([])).toBeNull();
    expect(messagesIn({ answer: 5 })).toBeNull();
  });
});

describe("hostile text", () => {
  const attacks = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "![a](javascript:alert(1))",
    "![a](https://example.com/pixel.png)",
    "![a](data:image/svg+xml,<svg onload=alert(1)>)",
    "<svg onload=alert(1)>",
    "<style>body{display:none}</style>",
    "<a href='javascript:alert(1)'>x</a>",
    "<javascript:alert(1)>",
  ];
  test.each(attacks)("%s is shown, never run", (attack) => {
    for (const message of [
      { role: "assistant", content: attack },
      { role: attack, name: attack, content: [{ type: "text", text: attack }, { type: attack }] },
      { role: "tool", tool_call_id: attack, content: { [attack]: attack } },
      { role: "assistant", tool_calls: [{ id: attack, function: { name: attack, arguments: attack } }] },
      { role: "user", content: [{ type: "image_url", image_url: { url: attack } }] },
    ]) {
      const html = renderToStaticMarkup(<Message message={message} raw />);
      expect(html).not.toMatch(/<(script|style|svg|iframe|img)\b/i);
      expect(html).not.toMatch(/href="(?!https?:|mailto:)/i);
      expect(html.replaceAll(/"[^"]*"/g, "")).not.toMatch(/<[^>]* on\w+=/i);
    }
  });
  test("links go to the web and to mail only", () => {
    expect(safeUrl("https://example.com")).toBe("https://example.com");
    expect(safeUrl("mailto:a@b")).toBe("mailto:a@b");
    for (const url of [
      "javascript:x",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc",
      "//host",
      "data:image/svg+xml,x",
    ]) {
      expect(safeUrl(url)).toBe("");
    }
  });
});

describe("what is large", () => {
  test("a message of 1 MB is a bounded number of elements", () => {
    const text = "a paragraph of *some* words\n\n".repeat(40_000);
    const html = renderToStaticMarkup(<Message message={{ role: "assistant", content: text }} />);
    expect(html.match(/</g)?.length).toBeLessThan(4000);
    expect(html).toContain("Show more");
  });
  test("a JSON value of many items is a bounded number of elements", () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, place) => [`name ${place}`, place]));
    expect(renderToStaticMarkup(<Output value={many} />).length).toBeLessThan(20_000);
    expect(renderToStaticMarkup(<Output value={[1, 2, 3]} />)).toContain("json");
  });
  test("a text is never cut within a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(50), (text, at) => {
        const cut = cutAt(text, at + 1);
        expect(text.slice(0, cut) + text.slice(cut)).toBe(text);
        expect(text.slice(0, cut).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("a text that grows", () => {
  const markdown = fc
    .array(fc.constantFrom("words", "", "", "```", "- item", "  more", "~~~", "# head"))
    .map((lines) => lines.join("\n"));
  test("its blocks put together are the text", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        expect(
          blocksOf(text)
            .map((block) => block.text)
            .join(""),
        ).toBe(text);
      }),
    );
  });
  test("blocks that are complete stay as they are", () => {
    fc.assert(
      fc.property(markdown, fc.string(), (text, more) => {
        const before = blocksOf(text).slice(0, -1);
        expect(blocksOf(text + more).slice(0, before.length)).toEqual(before);
      }),
    );
  });
  test("code stays together", () => {
    expect(blocksOf("a\n\n```\nb\n\nc\n```\n\nd").map((block) => block.text)).toEqual([
      "a\n\n",
      "```\nb\n\nc\n```\n\n",
      "d",
    ]);
  });
});

describe("results by hand", () => {
  const call = (id: string | null, name: string) => ({ id, name, input: { at: 7 }, answer: null });
  test("calls that no message has are said before their results", () => {
    const messages = resultMessages([call("a", "own")], [call("b", "told")], ["1", "2"]);
    expect(messages).toEqual([
      { role: "tool", tool_call_id: "a", content: "1" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "b", type: "function", function: { name: "told", arguments: '{"at":7}' } }],
      },
      { role: "tool", tool_call_id: "b", content: "2" },
    ]);
    // They stand together, as they would if the workflow had sent the message.
    expect(shownMessages(messages.slice(1))).toMatchObject([{ calls: [{ id: "b", answer: { content: "2" } }] }]);
  });
  test("calls of messages have their results alone", () => {
    expect(resultMessages([call(null, "own")], [], ["1"])).toEqual([{ role: "tool", name: "own", content: "1" }]);
  });
});
