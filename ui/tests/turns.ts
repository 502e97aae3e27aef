import type { Turn } from "../src/talk/api";

/** A turn for tests. */
export function turn(fields: Partial<Turn> & { id: string }): Turn {
  return {
    thread_id: "t",
    status: "done",
    said: [],
    inputs: null,
    sent: true,
    outputs: null,
    replies: [],
    tool_calls: [],
    text: "",
    edited: false,
    error: null,
    seconds: null,
    prompt_tokens: null,
    completion_tokens: null,
    cost: null,
    started_at: "2026-11-16T12:00:00Z",
    trace_id: null,
    session_id: null,
    address: null,
    parameters: null,
    treated_as: "chat",
    size: 0,
    truncated: false,
    ...fields,
  };
}

export function said(id: string, text: string, role = "user"): Turn {
  return turn({ id, said: [{ role, content: text }], replies: [{ role: "assistant", content: `to ${text}` }] });
}
