import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, failure, got } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { dateWords } from "../time";
import { counted, restoreVersion, type Saved, type TestSet } from "./data";

interface VersionsViewProps {
  latest: TestSet;
  onSaved: (saved: Saved) => void;
}

/** The versions of a test set, the newest first. */
export function VersionsView({ latest, onSaved }: VersionsViewProps) {
  const { name } = latest;
  const versions = useInfiniteQuery({
    queryKey: ["test-set-versions", name],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/api/v1/test-sets/{name}/versions", {
          params: { path: { name }, query: pageParam === null ? {} : { after: pageParam } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
  const restore = useMutation({
    mutationFn: (version: number) => restoreVersion(name, version, latest.version),
    onSuccess: onSaved,
  });
  if (failure(versions)) return <ErrorNote error={versions.error} onRetry={() => versions.refetch()} />;
  if (!versions.data) return <Loading what="the versions" />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <section className="scroll-part" aria-label="Versions" tabIndex={0}>
      {restore.error && <ErrorNote error={restore.error} />}
      <ol className="versions">
        {versions.data.pages
          .flatMap((page) => page.items)
          .map((one) => (
            <li key={one.version}>
              <div>
                <strong>Version {one.version}</strong>{" "}
                {one.version === latest.version && <span className="badge">latest</span>}{" "}
                <span className="quiet">
                  {dateWords(one.created_at)}, {counted(one.row_count, "row")}, {counted(one.columns.length, "column")}
                </span>
                {one.note && <p>{one.note}</p>}
              </div>
              <div className="version-actions">
                <Link
                  from="/test-sets/$name"
                  to="."
                  search={one.version === latest.version ? {} : { version: one.version }}
                >
                  Rows
                </Link>
                {one.version > 1 && (
                  <Link
                    from="/test-sets/$name"
                    to="."
                    search={{ view: "differences", from: one.version - 1, version: one.version }}
                  >
                    What changed
                  </Link>
                )}
                {one.version !== latest.version && (
                  <>
                    <Link
                      from="/test-sets/$name"
                      to="."
                      search={{ view: "differences", from: one.version, version: latest.version }}
                    >
                      Compare with the latest
                    </Link>
                    <button
                      type="button"
                      className="small"
                      disabled={restore.isPending}
                      onClick={() => restore.mutate(one.version)}
                    >
                      Restore
                    </button>
                  </>
                )}
              </div>
            </li>
          ))}
      </ol>
      {versions.hasNextPage && (
        <button type="button" disabled={versions.isFetching} onClick={() => versions.fetchNextPage()}>
          Older versions
        </button>
      )}
    </section>
  );
}
