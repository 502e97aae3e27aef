// A chat as `useChat` holds it, with the AI SDK's own transport; prints what came of it as JSON.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from "ai";

const { api, id, texts, headers = {}, outputs = {} } = JSON.parse(process.argv[2]);
const requests = [];
const errors = [];

async function counted(url, init) {
  requests.push(JSON.parse(init.body));
  if (requests.length > 3 * texts.length) throw new Error("It sends for ever.");
  return fetch(url, init);
}

const chat = new Chat({
  id,
  transport: new DefaultChatTransport({ api, headers, fetch: counted }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  onToolCall({ toolCall: { toolName, toolCallId } }) {
    if (toolName in outputs) {
      void chat.addToolOutput({ tool: toolName, toolCallId, output: outputs[toolName] });
    }
  },
  onError: (error) => errors.push(error.message),
});

for (const text of texts) {
  await chat.sendMessage({ text });
  while (["submitted", "streaming"].includes(chat.status)) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
console.log(JSON.stringify({ messages: chat.messages, requests, errors, status: chat.status }));
