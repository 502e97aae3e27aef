import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { usePrintedRange } from "./usePrintedRange";

interface VirtualListProps<Item> {
  items: readonly Item[];
  keyOf: (item: Item) => string;
  render: (item: Item, index: number) => ReactNode;
  /** The name of the list for people who do not see it. */
  label: string;
  /** About how high an item is, in pixels. */
  estimate?: number;
  /** Stay at the end while items are added or grow, unless somebody scrolled up. */
  follow?: boolean;
  /** The item to scroll to. */
  show?: number | undefined;
  /** Called when the first item is near. */
  onStart?: (() => void) | undefined;
  /** Called when the last item is near. */
  onEnd?: (() => void) | undefined;
  /** Stands before the first item. */
  before?: ReactNode;
}

const NEAR = 80;

/** A list of any length in a part that scrolls: only what can be seen is in the page. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, keyOf, render, label, estimate = 120, follow, show, onStart, onEnd, before } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const atEnd = useRef(follow ?? false);
  const scrolled = useRef(false);
  const rangeExtractor = usePrintedRange();
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => estimate,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan: 4,
    rangeExtractor,
    useFlushSync: false,
  });
  const shown = virtual.getVirtualItems();
  const height = virtual.getTotalSize();

  // Follows what grows: heights change while a message is streamed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: The height is what is followed.
  useLayoutEffect(() => {
    if (follow && atEnd.current && scroll.current) scroll.current.scrollTop = scroll.current.scrollHeight;
  }, [follow, height, items.length]);
  useEffect(() => {
    if (show === undefined || show < 0) return;
    atEnd.current = false;
    virtual.scrollToIndex(show, { align: "start" });
  }, [show, virtual]);

  // What is put before the first item moves the others down: so does the view.
  const start = items[0] === undefined ? undefined : keyOf(items[0]);
  const earlier = useRef(start);
  useLayoutEffect(() => {
    const old = earlier.current;
    earlier.current = start;
    if (old === start || old === undefined || !scroll.current || atEnd.current) return;
    const place = items.findIndex((item) => keyOf(item) === old);
    const moved = virtual.measurementsCache[place]?.start;
    if (place > 0 && moved !== undefined) scroll.current.scrollTop += moved;
  }, [start, items, keyOf, virtual]);

  const first = shown[0]?.index;
  const last = shown.at(-1)?.index;
  useEffect(() => {
    const part = scroll.current;
    const fits = part !== null && height <= part.clientHeight;
    // A list that follows its end is drawn from its beginning once, before it is scrolled.
    if (first === 0 && (!follow || fits || scrolled.current)) onStart?.();
  }, [first, onStart, follow, height]);
  useEffect(() => {
    if (last !== undefined && last >= items.length - 1) onEnd?.();
  }, [last, items.length, onEnd]);

  const onScroll = () => {
    const part = scroll.current;
    scrolled.current = true;
    if (part) atEnd.current = part.scrollHeight - part.scrollTop - part.clientHeight < NEAR;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <section className="virtual" ref={scroll} aria-label={label} tabIndex={0} onScroll={onScroll}>
      {before}
      <div className="virtual-inside" style={{ height }}>
        {shown.map((one) => {
          const item = items[one.index];
          return item === undefined ? null : (
            <div
              key={one.key}
              data-index={one.index}
              ref={virtual.measureElement}
              className="virtual-item"
              style={{ transform: `translateY(${one.start}px)` }}
            >
              {render(item, one.index)}
            </div>
          );
        })}
      </div>
    </section>
  );
}
