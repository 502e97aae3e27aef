import { describe, expect, test } from "vitest";
import type { Workflow } from "../src/talk/api";
import { inputsSchema } from "../src/talk/completion/data";

function workflow(is_chat: boolean, properties: object, required: string[] = []): Workflow {
  return { is_chat, schemas: { inputs: { type: "object", properties, required } } } as unknown as Workflow;
}

const chat = workflow(true, { messages: { type: "array" }, reader: { type: "string" } }, ["messages"]);
const mark = workflow(false, { title: { type: "string" }, capital: { type: "boolean" } }, ["title"]);

describe("the form of a row", () => {
  test("of a chat workflow asks for what the user says", () => {
    const found = inputsSchema([chat], {});
    expect(Object.keys(found.properties as object)).toEqual(["message", "reader"]);
    expect(found.required).toEqual(["message"]);
  });

  test("of a conversation keeps its messages", () => {
    expect(inputsSchema([chat], { messages: [] })).toEqual(chat.schemas.inputs);
    expect(Object.keys(inputsSchema([chat, mark], { messages: [] }).properties as object)).toContain("messages");
  });

  test("asks for what all columns take; one text goes to the chat and to the completion", () => {
    const found = inputsSchema([chat, mark], {});
    expect(Object.keys(found.properties as object).sort()).toEqual(["capital", "reader", "title"]);
    expect(found.required).toEqual(["title"]);
  });
});
