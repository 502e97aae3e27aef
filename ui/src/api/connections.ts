/**
 * A browser opens six connections to a server, for all its pages together. Pages share them by locks, which browsers
 * hand out over all pages of a server. Browsers without locks, such as over plain HTTP from elsewhere, count by page.
 */

/** Three may be streams of answers: events and other requests need the others. */
export const MOST_STREAMS = 3;

const STREAM = "greenroom-stream";

let streams = 0;

function sharedLocks(): LockManager | null {
  return typeof navigator !== "undefined" && "locks" in navigator ? navigator.locks : null;
}

/** Streams an answer if a connection is free; whether it was. */
export async function withStream(stream: () => Promise<void>): Promise<boolean> {
  const locks = sharedLocks();
  if (!locks) return withOwnStream(stream);
  for (let place = 0; place < MOST_STREAMS; place++) {
    const free = await locks.request(`${STREAM}-${place}`, { ifAvailable: true }, async (lock) => {
      if (lock) await stream();
      return lock !== null;
    });
    if (free) return true;
  }
  return false;
}

async function withOwnStream(stream: () => Promise<void>): Promise<boolean> {
  if (streams >= MOST_STREAMS) return false;
  streams += 1;
  try {
    await stream();
  } finally {
    streams -= 1;
  }
  return true;
}

/**
 * Does something in one page of the browser at a time; when that page goes, the next one takes over, and is told so.
 * It resolves at the end of the signal.
 */
export async function inOnePage(
  name: string,
  signal: AbortSignal,
  work: (tookOver: boolean) => Promise<void>,
): Promise<void> {
  const locks = sharedLocks();
  if (!locks || typeof BroadcastChannel === "undefined") return work(false);
  let waited = false;
  while (!signal.aborted) {
    try {
      await locks.request(name, waited ? { signal } : { ifAvailable: true }, (lock) => {
        if (lock && !signal.aborted) return work(waited);
        waited = true;
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
