/** A board as a table: rows of threads, loaded as they are seen. */
import { queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";
import type { components } from "../../api/schema";
import { isObject, type JsonObject } from "../../json";
import { roleOf, textOf } from "../../messages";
import { addThread, type Board, changeThread, type ThreadHead, type Workflow } from "../api";

export type Started = components["schemas"]["Started"];

export const PAGE_ROWS = 25;
const WHILE_RUNNING = 1_000;

/** The rows of a page, by their number. Another page may begin with rows of this one, if some were deleted. */
export const rowsQuery = (board: string, page: number) =>
  queryOptions({
    queryKey: ["board", board, "rows", page],
    queryFn: async ({ signal }) => {
      const query = { rows_after: page * PAGE_ROWS - 1, limit: PAGE_ROWS };
      const params = { path: { board_id: board }, query };
      const found = await got(api.GET("/api/v1/boards/{board_id}", { params, signal }));
      // The server sends every field of an answer.
      return found as Board;
    },
    // Turns end in the server: cells that run are asked for now and then.
    refetchInterval: (query) => (query.state.data?.threads.some((head) => head.running) ? WHILE_RUNNING : false),
  });

export const runBoard = (board: string, threads: string[] | null): Promise<Started> =>
  got(api.POST("/api/v1/boards/{board_id}/run", { params: { path: { board_id: board } }, body: { threads } }));

export const runningTurns = (board: string): Promise<Started> =>
  got(api.GET("/api/v1/boards/{board_id}/running", { params: { path: { board_id: board } } }));

export const loadTestSet = (board: string, name: string, version: number | null) =>
  got(
    api.POST("/api/v1/boards/{board_id}/load", {
      params: { path: { board_id: board } },
      body: { test_set: name, version, start: 0 },
    }),
  );

/** One more row: a thread for each column, with the same inputs. */
export async function addRow(board: Board, inputs: JsonObject): Promise<void> {
  let row: number | null = null;
  for (const { address, parameters, column } of board.columns) {
    const added = await addThread(board.id, { address, parameters: parameters ?? null, inputs, column, row });
    row = added.row;
  }
}

/** Gives all threads of a row the same inputs. */
export async function changeInputs(heads: readonly ThreadHead[], inputs: JsonObject): Promise<void> {
  for (const head of heads) await changeThread(head.id, { version: head.version, inputs });
}

/** The schema of a row's inputs: what the workflows of all columns take. A chat workflow takes one text as the user's
 * message; beside a completion it is the text that the completion takes. */
export function inputsSchema(workflows: readonly Workflow[], inputs: JsonObject): JsonObject {
  const [first] = workflows;
  const schemas = workflows.map((one): JsonObject => (isObject(one.schemas.inputs) ? one.schemas.inputs : {}));
  const known = first && isObject(first.schemas.inputs) ? first.schemas.inputs : { type: "object" };
  const takesMessages = "messages" in inputs || !workflows.some((one) => one.is_chat);
  if (takesMessages && workflows.length < 2) return known;
  const without = takesMessages ? [] : ["messages"];
  const { messages: _, ...properties } = merged(schemas.map((schema) => schema.properties));
  const required = schemas
    .flatMap((schema) => (Array.isArray(schema.required) ? schema.required : []))
    .filter((name) => !without.includes(name));
  const all = { ...known, $defs: merged(schemas.map((schema) => schema.$defs)) };
  if (takesMessages) {
    return { ...all, properties: merged(schemas.map((schema) => schema.properties)), required: [...new Set(required)] };
  }
  const text = { type: "string", description: "What the user says" };
  const name = textOfCompletion(workflows) ?? messageName(properties);
  return {
    ...all,
    properties: name in properties ? properties : { [name]: text, ...properties },
    required: [...new Set([name, ...required])],
  };
}

function merged(records: readonly unknown[]): JsonObject {
  const found: JsonObject = {};
  for (const one of records) if (isObject(one)) Object.assign(found, { ...one, ...found });
  return found;
}

/** The name of the one text that a completion takes and no chat workflow has a meaning of its own for. */
function textOfCompletion(workflows: readonly Workflow[]): string | undefined {
  const declared = (one: Workflow) => merged([isObject(one.schemas.inputs) ? one.schemas.inputs.properties : {}]);
  const chats = merged(workflows.filter((one) => one.is_chat).map(declared));
  const others = Object.entries(merged(workflows.filter((one) => !one.is_chat).map(declared)));
  return others.find(([name, schema]) => isObject(schema) && schema.type === "string" && !(name in chats))?.[0];
}

function messageName(properties: JsonObject): string {
  return ["message", "prompt", "text"].find((name) => !(name in properties)) ?? "user_message";
}

/** What the row gives to its workflows: inputs, or the conversation that was said. */
export function inputWords(head: ThreadHead): string {
  const said = head.last?.said.findLast((message) => roleOf(message) === "user");
  return said ? textOf(said) : "";
}
