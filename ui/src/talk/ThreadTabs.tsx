import * as Tabs from "@radix-ui/react-tabs";
import type { ThreadHead } from "./api";
import { shortName, useWorkflow } from "./useWorkflow";

interface ThreadTabsProps {
  threads: readonly ThreadHead[];
  current: string | null;
  onChoose: (thread: string) => void;
}

/** On a narrow screen, one thread at a time. */
export function ThreadTabs({ threads, current, onChoose }: ThreadTabsProps) {
  return (
    <Tabs.Root value={current ?? ""} onValueChange={onChoose}>
      <Tabs.List className="tabs" aria-label="Threads">
        {threads.map((thread, place) => (
          <Tabs.Trigger key={thread.id} value={thread.id}>
            {place + 1}. <TabName thread={thread} />
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {threads.map((thread) => (
        <Tabs.Content key={thread.id} value={thread.id} tabIndex={-1} />
      ))}
    </Tabs.Root>
  );
}

function TabName({ thread }: { thread: ThreadHead }) {
  const workflow = useWorkflow(thread.address);
  return thread.title || workflow?.name || shortName(thread.address);
}
