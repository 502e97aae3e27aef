import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { broadcast, refreshBoard } from "./api";
import { Composer } from "./Composer";

interface BroadcastProps {
  board: string;
  /** How many threads there are; null if some are not loaded. */
  count: number | null;
}

/** Says the same in all threads of a board. */
export function Broadcast({ board, count }: BroadcastProps) {
  const queries = useQueryClient();
  const [note, setNote] = useState<string | null>(null);
  const send = async (messages: Parameters<typeof broadcast>[1]) => {
    const { started, skipped = [] } = await broadcast(board, messages);
    const reasons = [...new Set(skipped.map((one) => one.why))].join(" ");
    setNote(skipped.length ? `Sent to ${started.length}; ${skipped.length} left out. ${reasons}` : null);
    await Promise.all([
      refreshBoard(queries, board),
      ...started.map((one) => queries.invalidateQueries({ queryKey: ["thread", one.thread_id] })),
    ]);
  };
  return (
    <div className="broadcast">
      <Composer
        draft={`all.${board}`}
        label="Message to all threads"
        placeholder={`Say the same in ${count === 2 ? "both" : count === null ? "all" : `all ${count}`} threads`}
        onSend={send}
      />
      {note && (
        <span className="quiet" role="status">
          {note}
        </span>
      )}
    </div>
  );
}
