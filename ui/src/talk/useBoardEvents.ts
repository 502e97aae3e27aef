import { useQueryClient } from "@tanstack/react-query";
import { useEvents, useTogether } from "../api/events";
import { refreshBoard, refreshThread, type Thread } from "./api";

/** Shows what others do: another browser, another process, a turn that ends. */
export function useBoardEvents(board: string): void {
  const queries = useQueryClient();
  // Many threads change at once when all rows run: one answer shows them all.
  const refreshSoon = useTogether(() => void refreshBoard(queries, board));
  useEvents((event) => {
    switch (event.kind) {
      case "reconnected":
        void queries.invalidateQueries();
        break;
      case "board":
        if (event.id === board) refreshSoon();
        break;
      case "thread": {
        if (event.board_id !== board) break;
        const known = queries.getQueryData<Thread>(["thread", event.id]);
        if (known?.version === event.version) break;
        void refreshThread(queries, event.id);
        refreshSoon();
        break;
      }
      case "turn": {
        const thread = queries.getQueryData<Thread>(["thread", event.thread_id]);
        const turn = thread?.turns.find((one) => one.id === event.id);
        if (thread && turn?.status !== event.status) void refreshThread(queries, event.thread_id);
        break;
      }
      default:
    }
  });
}
