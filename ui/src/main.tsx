import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { Queries } from "./api/queries";
import { router } from "./router";
import "../../src/greenroom/reports/html_assets/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/conversation.css";
import "./styles/tables.css";
import "./styles/forms.css";

// zod, which reads the streams of chats, would try out `new Function`: the policy of the pages forbids it.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });

const queries = new Queries({
  defaultOptions: {
    queries: {
      // What changes is told by events (api/events.ts).
      staleTime: 30_000,
      // The server says in words what is wrong: only a server that is away is asked again.
      retry: (count, error) => count < 2 && error instanceof ApiError && error.status === 0,
      refetchOnWindowFocus: false,
    },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
