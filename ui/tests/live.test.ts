import { afterEach, describe, expect, test, vi } from "vitest";
import { detailOf } from "../src/api/client";
import { eventOf } from "../src/api/events";
import { chatOf, follow, leave, postTurn, watchLive } from "../src/talk/live";
import { liveView } from "../src/talk/live_view";

const PARTS = [
  { type: "start", messageId: "m" },
  { type: "start-step" },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Let me " },
  { type: "text-delta", id: "1", delta: "look." },
  { type: "text-end", id: "1" },
  { type: "tool-input-start", toolCallId: "c", toolName: "find" },
  { type: "tool-input-available", toolCallId: "c", toolName: "find", input: { order: 5 } },
  { type: "tool-output-available", toolCallId: "c", output: "on its way" },
  { type: "finish-step" },
  { type: "start-step" },
  { type: "text-start", id: "2" },
  { type: "text-delta", id: "2", delta: "It is on its way." },
  { type: "text-end", id: "2" },
  { type: "data-output", data: { any: "JSON" } },
  { type: "finish-step" },
  { type: "finish" },
];

const event = (part: object) => `data: ${JSON.stringify(part)}\n\n`;

/** An answer whose pieces come one by one. */
function streamed() {
  let send: (part: object | null) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (part) => {
        if (part === null) controller.close();
        else controller.enqueue(new TextEncoder().encode(event(part)));
      };
    },
  });
  const response = new Response(body, {
    headers: { "content-type": "text/event-stream", "x-turn-id": "t1", "x-thread-version": "4" },
  });
  return { response, send: (part: object | null) => send(part) };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

afterEach(() => {
  for (const turn of ["t1", "t2", "t3", "t4"]) leave(turn);
  vi.unstubAllGlobals();
});

describe("a turn that is followed", () => {
  test("shows each piece as it comes, and what it is at the end", async () => {
    const { response, send } = streamed();
    const onEnd = vi.fn();
    follow("t1", onEnd, response);
    await settle();
    const chat = chatOf("t1");
    for (const part of PARTS.slice(0, 4)) send(part);
    await settle();
    expect(liveView(chat?.messages.at(-1)).messages[0]?.message.content).toBe("Let me ");
    for (const part of PARTS.slice(4, 8)) send(part);
    await settle();
    expect(liveView(chat?.messages.at(-1)).messages[0]?.calls[0]).toEqual({
      id: "c",
      name: "find",
      input: { order: 5 },
      answer: null,
    });
    for (const part of PARTS.slice(8)) send(part);
    send(null);
    await settle();
    const view = liveView(chat?.messages.at(-1));
    expect(view.messages.map((one) => one.message.content)).toEqual(["Let me look.", "It is on its way."]);
    expect(view.messages[0]?.calls[0]?.answer).toEqual({ index: null, content: "on its way", isError: false });
    expect(view.outputs).toEqual([{ any: "JSON" }]);
    expect(onEnd).toHaveBeenCalledOnce();
  });

  test("is opened again when its connection broke, after a while", async () => {
    const fetched = vi.fn(() => Promise.reject(new TypeError("down")));
    vi.stubGlobal("fetch", fetched);
    const onEnd = vi.fn();
    follow("t2", onEnd);
    await settle();
    expect(onEnd).toHaveBeenCalledOnce();
    follow("t2", onEnd);
    expect(fetched).toHaveBeenCalledOnce();
    const told = vi.fn();
    const end = watchLive(told);
    await vi.waitFor(() => expect(chatOf("t2")).toBeNull(), 3000);
    expect(told).toHaveBeenCalled();
    end();
  });

  test("leaves connections for other requests", async () => {
    const answers = [1, 2, 3, 4].map(() => streamed());
    const cancelled = vi.spyOn(answers[3]?.response.body ?? new ReadableStream(), "cancel");
    answers.forEach(({ response }, place) => {
      follow(`t${place + 1}`, () => undefined, response);
    });
    await settle();
    expect([1, 2, 3, 4].map((place) => chatOf(`t${place}`) !== null)).toEqual([true, true, true, false]);
    expect(cancelled).toHaveBeenCalledOnce();
    const told = vi.fn();
    const end = watchLive(told);
    answers[0]?.send(null);
    await settle();
    expect(told).toHaveBeenCalled();
    follow("t4", () => undefined, streamed().response);
    await settle();
    expect(chatOf("t4")).not.toBeNull();
    end();
  });
});

describe("requests", () => {
  test("a turn tells its id and version", async () => {
    const { response } = streamed();
    const fetched = vi.fn(() => Promise.resolve(response));
    vi.stubGlobal("fetch", fetched);
    expect(await postTurn("a/b", { version: 3 })).toMatchObject({ turn: "t1", version: 4 });
    expect(fetched).toHaveBeenCalledWith("/api/v1/threads/a%2Fb/turns", expect.objectContaining({ method: "POST" }));
  });

  test("what is refused is told in the server's words", async () => {
    vi.stubGlobal("fetch", () =>
      Promise.resolve(Response.json({ detail: "A turn is running here." }, { status: 409 })),
    );
    await expect(postTurn("t", {})).rejects.toThrow("A turn is running here.");
    expect(detailOf(null, 401)).toContain("not signed in");
    expect(detailOf({ detail: 5 }, 500)).toContain("500");
  });

  test("events that nobody knows are left out", () => {
    expect(eventOf('{"kind": "note", "id": "n"}')).toEqual({ kind: "note", id: "n" });
    expect(eventOf('{"kind": "other"}')).toBeNull();
    expect(eventOf("nonsense")).toBeNull();
  });
});
