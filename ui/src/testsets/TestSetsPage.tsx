import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, got, STILL_THERE } from "../api/client";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { SearchField } from "../components/SearchField";
import { dateWords } from "../time";
import { counted, type TestSet } from "./data";
import { ImportDialog } from "./ImportDialog";
import "./testsets.css";

const route = getRouteApi("/test-sets");

const COLUMNS: readonly Column<TestSet>[] = [
  {
    id: "name",
    name: "Name",
    cell: (set) => (
      <Link to="/test-sets/$name" params={{ name: set.name }}>
        {set.name}
      </Link>
    ),
  },
  { id: "rows", name: "Rows", number: true, cell: (set) => set.row_count.toLocaleString("en") },
  { id: "version", name: "Version", number: true, cell: (set) => set.version },
  { id: "columns", name: "Columns", wide: true, cell: (set) => columnWords(set) },
  { id: "changed", name: "Changed", wide: true, cell: (set) => dateWords(set.created_at) },
];

const SHOWN_COLUMNS = 5;

function columnWords(set: TestSet): string {
  const left = set.columns.length - SHOWN_COLUMNS;
  const shown = set.columns.slice(0, SHOWN_COLUMNS).map((column) => `${column.name} (${column.kind})`);
  return left > 0 ? `${shown.join(", ")} and ${counted(left, "other")}` : shown.join(", ");
}

/** All test sets. */
export function TestSetsPage() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const [importing, setImporting] = useState(false);
  const sets = useInfiniteQuery({
    queryKey: ["test-sets", q ?? ""],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/api/v1/test-sets", {
          params: { query: { ...(q ? { q } : {}), ...(pageParam === null ? {} : { after: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchInterval: STILL_THERE,
  });
  const rows = sets.data?.pages.flatMap((page) => page.items) ?? [];
  const open = (name: string) => navigate({ to: "/test-sets/$name", params: { name } });
  return (
    <Page
      title="Test sets"
      fill
      actions={
        <button type="button" className="main" onClick={() => setImporting(true)}>
          Import a file
        </button>
      }
    >
      {(rows.length > 0 || q) && (
        <search className="tools">
          <SearchField
            value={q ?? ""}
            label="Find by name"
            onChange={(words) => navigate({ search: words ? { q: words } : {}, replace: true })}
          />
        </search>
      )}
      {sets.isPending && <Loading what="the test sets" />}
      {sets.error && <ErrorNote error={sets.error} onRetry={() => sets.refetch()} />}
      {sets.data && !rows.length && (
        <EmptyState title={q ? "No test set has a name like that." : "There are no test sets yet."}>
          {!q && (
            <>
              <p>
                A test set is a table of inputs and expected outputs. Import a CSV, JSON or JSON Lines file, or add what
                a workflow answered: every turn, row and episode has "Add to test set".
              </p>
              <button type="button" onClick={() => setImporting(true)}>
                Import a file
              </button>
            </>
          )}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Test sets"
          columns={COLUMNS}
          rows={rows}
          keyOf={(set) => set.id}
          onOpen={(set) => open(set.name)}
          onEnd={sets.hasNextPage && !sets.isFetching ? () => sets.fetchNextPage() : undefined}
        />
      )}
      <ImportDialog
        open={importing}
        onClose={() => setImporting(false)}
        onImported={(saved) => open(saved.test_set.name)}
      />
    </Page>
  );
}
