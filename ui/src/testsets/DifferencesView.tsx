import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, got } from "../api/client";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { VirtualList } from "../components/VirtualList";
import { CellView } from "./CellView";
import { counted, type Difference, type Differences, type TestSet } from "./data";

const route = getRouteApi("/test-sets/$name");

/** What changed between two versions: rows, and within them cells. */
export function DifferencesView({ latest }: { latest: TestSet }) {
  const { from, version } = route.useSearch();
  const navigate = route.useNavigate();
  const to = version ?? latest.version;
  const before = from ?? Math.max(1, to - 1);
  const { name } = latest;
  const found = useInfiniteQuery({
    queryKey: ["test-set-differences", name, before, to],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/api/v1/test-sets/{name}/differences", {
          params: { path: { name }, query: { from: before, to, ...(pageParam === null ? {} : { after: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const first = found.data?.pages[0];
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="differences">
      <div className="tools">
        <Choice
          label="from"
          value={before}
          latest={latest.version}
          onChange={(next) => navigate({ search: (old) => ({ ...old, from: next, version: to }) })}
        />
        <Choice
          label="to"
          value={to}
          latest={latest.version}
          onChange={(next) => navigate({ search: (old) => ({ ...old, from: before, version: next }) })}
        />
        {first && <span role="status">{summary(first)}</span>}
      </div>
      {found.isPending && <Loading what="the differences" />}
      {found.error && <ErrorNote error={found.error} onRetry={() => found.refetch()} />}
      {first && !items.length && (
        <EmptyState title={`Versions ${before} and ${to} have the same rows.`}>
          {latest.version === 1 && <p>There is one version so far. A change of a row makes the next one.</p>}
        </EmptyState>
      )}
      {items.length > 0 && (
        <VirtualList
          items={items}
          keyOf={(one) => `${one.kind} ${one.before} ${one.after}`}
          label="Rows that differ"
          estimate={110}
          render={(one) => <OneDifference difference={one} />}
          onEnd={found.hasNextPage && !found.isFetching ? () => found.fetchNextPage() : undefined}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: number;
  latest: number;
  onChange: (version: number) => void;
}

function Choice({ label, value, latest, onChange }: ChoiceProps) {
  return (
    <label>
      {label} version
      <input
        type="number"
        min={1}
        max={latest}
        value={value}
        onChange={(event) => {
          const next = Number(event.target.value);
          if (Number.isInteger(next) && next >= 1 && next <= latest) onChange(next);
        }}
      />
    </label>
  );
}

function summary({ counts }: Differences): string {
  const parts = (["added", "removed", "changed", "moved"] as const)
    .filter((kind) => counts[kind])
    .map((kind) => `${counted(counts[kind] ?? 0, "row")} ${kind}`);
  return parts.join(", ");
}

const SIGNS = { added: "+", removed: "−", changed: "≠", moved: "↕" } as const;

function OneDifference({ difference }: { difference: Difference }) {
  const { kind, before, after, cells } = difference;
  return (
    <article className="difference" data-kind={kind}>
      <h3>
        <span aria-hidden="true">{SIGNS[kind]}</span> {words(kind, before, after)}
      </h3>
      <table>
        <tbody>
          {cells.map((cell) => (
            <tr key={cell.column}>
              <th scope="row">{cell.column}</th>
              {kind !== "added" && kind !== "moved" && (
                <td className="was">{cell.before ? <CellView cell={cell.before} /> : <i>no value</i>}</td>
              )}
              {kind !== "removed" && (
                <td className="is">{cell.after ? <CellView cell={cell.after} /> : <i>no value</i>}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </article>
  );
}

function words(kind: Difference["kind"], before: number | null, after: number | null): string {
  const was = (before ?? 0) + 1;
  const is = (after ?? 0) + 1;
  if (kind === "added") return `Row ${is} was added`;
  if (kind === "removed") return `Row ${was} was removed`;
  if (kind === "moved") return `Row ${was} moved to row ${is}`;
  return was === is ? `Row ${is} changed` : `Row ${is}, which was row ${was}, changed`;
}
