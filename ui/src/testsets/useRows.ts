/** The rows of a version, loaded as they are seen. */
import { useInfiniteQuery, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { type Cell, type Filter, foundRows, isFiltered, PAGE_ROWS, rowsQuery, type TestSet } from "./data";
import { type Draft, type Item, itemAt, itemCount } from "./draft";

type Cells = Readonly<Record<string, Cell>>;

export interface Rows {
  count: number;
  itemAt: (index: number) => Item;
  /** The cells of a row of the version; null while they are loaded. */
  cellsOf: (position: number) => Cells | null;
  /** Whether the row at a place of the table has been seen, and is still known. */
  isLoaded: (index: number) => boolean;
  onRange: (first: number, last: number) => void;
  error: Error | null;
  retry: () => void;
  /** A search goes on. */
  searching: boolean;
  /** There may be more to find. */
  more: boolean;
}

export function useRows(set: TestSet, filter: Filter, draft: Draft): Rows {
  const filtered = isFiltered(filter);
  const all = useAllRows(set, draft, !filtered);
  const found = useFoundRows(set, filter, filtered);
  return filtered ? found : all;
}

function useAllRows(set: TestSet, draft: Draft, enabled: boolean): Rows {
  const [range, setRange] = useState<readonly [number, number]>([0, 0]);
  const onRange = useCallback((first: number, last: number) => {
    setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
  }, []);
  // New rows only shift what is seen: so many rows before are enough.
  const extras = draft.extras.length;
  const from = Math.floor(Math.max(0, range[0] - extras) / PAGE_ROWS);
  const to = Math.floor(Math.min(set.row_count - 1, range[1]) / PAGE_ROWS);
  // Rows that move show their content in their new place.
  const elsewhere = draft.extras.flatMap((extra) => (extra.row === null ? [] : [Math.floor(extra.row / PAGE_ROWS)]));
  const pages = enabled ? [...new Set([...numbers(from, to), ...elsewhere])] : [];
  const queries = useQueries({ queries: pages.map((page) => rowsQuery(set.name, set.version, page)) });
  const client = useQueryClient();
  const isLoaded = (index: number) => {
    const item = itemAt(draft, index);
    if (item.kind === "extra") return true;
    const page = rowsQuery(set.name, set.version, Math.floor(item.position / PAGE_ROWS));
    return client.getQueryData(page.queryKey) !== undefined;
  };
  const loaded = new Map(pages.map((page, place) => [page, queries[place]?.data?.items]));
  const failed = queries.find((query) => query.isError);
  return {
    count: itemCount(draft, set.row_count),
    itemAt: (index) => itemAt(draft, index),
    cellsOf: (position) => loaded.get(Math.floor(position / PAGE_ROWS))?.[position % PAGE_ROWS]?.cells ?? null,
    isLoaded,
    onRange,
    error: failed?.error ?? null,
    retry: () => failed?.refetch(),
    searching: false,
    more: false,
  };
}

function useFoundRows(set: TestSet, filter: Filter, enabled: boolean): Rows {
  const query = useInfiniteQuery({
    queryKey: ["test-set-found", set.name, set.version, filter],
    queryFn: ({ pageParam }) => foundRows(set.name, set.version, filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  const [last, setLast] = useState(0);
  const onRange = useCallback((_: number, end: number) => setLast(end), []);
  const wanted = enabled && hasNextPage && !isFetching && !isError && last >= rows.length - 20;
  useEffect(() => {
    // A page may have few rows, or none, and others follow.
    if (wanted) fetchNextPage();
  }, [wanted, fetchNextPage]);
  const byPosition = new Map(rows.map((row) => [row.position, row.cells]));
  return {
    count: rows.length,
    itemAt: (index) => ({ kind: "row", position: rows[index]?.position ?? 0 }),
    cellsOf: (position) => byPosition.get(position) ?? null,
    isLoaded: () => true,
    onRange,
    error: query.error,
    retry: () => query.refetch(),
    searching: enabled && isFetching,
    more: hasNextPage,
  };
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place);
}
