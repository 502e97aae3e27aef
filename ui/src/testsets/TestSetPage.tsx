import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { failure, isGone, STILL_THERE } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { Menu, MenuItem } from "../components/Menu";
import { Page } from "../components/Page";
import { isObject } from "../json";
import { onStored, store, stored } from "../storage";
import { dateWords } from "../time";
import { DifferencesView } from "./DifferencesView";
import { counted, exportAddress, type Format, type Saved, type TestSet, testSetQuery } from "./data";
import { changeCount, type Draft, draftOf, NOTHING } from "./draft";
import { RowsView } from "./RowsView";
import "./testsets.css";
import { UndoNote } from "./UndoNote";
import { VersionsView } from "./VersionsView";

const route = getRouteApi("/test-sets/$name");
const FORMATS: readonly { format: Format; name: string }[] = [
  { format: "jsonl", name: "JSON Lines" },
  { format: "json", name: "JSON" },
  { format: "csv", name: "CSV" },
];

/** A test set: its rows, its versions, and what changed between them. */
export function TestSetPage() {
  const { name } = route.useParams();
  const latest = useQuery({ ...testSetQuery(name), refetchInterval: STILL_THERE });
  const wrong = failure(latest);
  if (isGone(latest)) {
    return (
      <Page title={name} above={<Link to="/test-sets">Test sets</Link>}>
        <Gone what="test set" name={name}>
          <p>Changes that were not saved are gone with it.</p>
          <Link to="/test-sets">Choose another test set</Link>
        </Gone>
      </Page>
    );
  }
  if (wrong) return <Failed name={name} error={wrong} onRetry={() => latest.refetch()} />;
  if (!latest.data || latest.isPlaceholderData) return <Loading what="the test set" />;
  return <WithVersion key={latest.data.id} latest={latest.data} />;
}

function Failed({ name, error, onRetry }: { name: string; error: Error; onRetry: () => void }) {
  return (
    <Page title={name} above={<Link to="/test-sets">Test sets</Link>}>
      <ErrorNote error={error} onRetry={onRetry} />
    </Page>
  );
}

/** Changes that are not saved, and the version that they are made in. This browser keeps them. */
interface Kept {
  version: number;
  draft: Draft;
}

function useKept(set: TestSet): [Kept | null, (kept: Kept | null) => void] {
  const name = `testset.${set.id}`;
  const [kept, setKept] = useState(() => keptOf(stored(name)));
  // Another tab of this browser goes on with the same changes, instead of overwriting them.
  useEffect(() => onStored(name, (text) => setKept(keptOf(text))), [name]);
  const change = (next: Kept | null) => {
    store(name, next && JSON.stringify(next));
    setKept(next);
  };
  return [kept, change];
}

const MOST_STEPS = 100;

/** The drafts before the last changes, so that each can be taken back until they are saved. */
function useSteps(draft: Draft, onDraft: (draft: Draft) => void) {
  const [steps, setSteps] = useState<readonly Draft[]>([]);
  const last = steps.at(-1);
  return {
    onDraft: (next: Draft) => {
      setSteps([...steps.slice(1 - MOST_STEPS), draft]);
      onDraft(next);
    },
    undo: last && {
      dropped: !changeCount(draft),
      run: () => {
        setSteps(steps.slice(0, -1));
        onDraft(last);
      },
    },
    clear: () => setSteps([]),
  };
}

function keptOf(text: string | null): Kept | null {
  try {
    const found: unknown = JSON.parse(text ?? "null");
    if (!isObject(found) || typeof found.version !== "number") return null;
    const draft = draftOf(found.draft);
    return changeCount(draft) ? { version: found.version, draft } : null;
  } catch {
    return null;
  }
}

/** The version that the address names, or that has unsaved changes, or the latest. */
function WithVersion({ latest }: { latest: TestSet }) {
  const { version } = route.useSearch();
  const [kept, setKept] = useKept(latest);
  const wanted = version ?? kept?.version ?? latest.version;
  const asked = useQuery({ ...testSetQuery(latest.name, wanted), enabled: wanted !== latest.version });
  const set = wanted === latest.version ? latest : asked.data;
  const wrong = failure(asked);
  if (wrong) return <Failed name={latest.name} error={wrong} onRetry={() => asked.refetch()} />;
  if (set?.version !== wanted) return <Loading what="the version" />;
  return <Shown set={set} latest={latest} kept={kept} onKept={setKept} />;
}

interface ShownProps {
  set: TestSet;
  latest: TestSet;
  kept: Kept | null;
  onKept: (kept: Kept | null) => void;
}

function Shown({ set, latest, kept, onKept }: ShownProps) {
  const { view } = route.useSearch();
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const [saved, setSaved] = useState<Saved | null>(null);
  const draft = kept?.version === set.version ? kept.draft : NOTHING;
  const steps = useSteps(draft, (next) => onKept(changeCount(next) ? { version: set.version, draft: next } : null));
  const onSaved = (result: Saved) => {
    steps.clear();
    onKept(null);
    queries.setQueryData(testSetQuery(set.name).queryKey, result.test_set);
    // An answer from before, which may be under way, does not take its place.
    queries.invalidateQueries({ queryKey: testSetQuery(set.name).queryKey });
    queries.invalidateQueries({ queryKey: ["test-set-versions", set.name] });
    queries.invalidateQueries({ queryKey: ["test-sets"] });
    setSaved(result.is_new ? result : null);
    navigate({ search: ({ version: _, view: __, from: ___, ...rest }) => rest });
  };
  const old = set.version !== latest.version;
  return (
    <Page
      title={set.name}
      above={<Link to="/test-sets">Test sets</Link>}
      fill
      actions={
        <Menu label="Export" trigger="Export">
          {FORMATS.map(({ format, name }) => (
            <MenuItem key={format} onSelect={() => download(exportAddress(set.name, set.version, format))}>
              {name}
            </MenuItem>
          ))}
        </Menu>
      }
    >
      <p className="quiet set-facts">
        Version {set.version}
        {old && ` of ${latest.version}`}, {dateWords(set.created_at)}, {counted(set.row_count, "row")}
        {set.note && <span className="set-note">: {set.note}</span>}
      </p>
      <nav className="tabs" aria-label="Views of the test set">
        <Tab view={undefined} now={view} name="Rows" />
        <Tab view="versions" now={view} name="Versions" />
        <Tab view="differences" now={view} name="Differences" />
      </nav>
      {saved && <UndoNote saved={saved} onSaved={onSaved} onClose={() => setSaved(null)} />}
      {old && view === undefined && draft === NOTHING && (
        <p className="warning-note">
          This is an older version, as it was.{" "}
          <Link from="/test-sets/$name" to="." search={({ version: _, ...rest }) => rest}>
            Show the latest
          </Link>
        </p>
      )}
      {view === "versions" && <VersionsView latest={latest} onSaved={onSaved} />}
      {view === "differences" && <DifferencesView latest={latest} />}
      {view === undefined && (
        <RowsView
          key={`${set.id} ${set.version}`}
          set={set}
          latest={latest}
          draft={draft}
          readOnly={old && draft === NOTHING}
          onDraft={steps.onDraft}
          undo={steps.undo}
          onSaved={onSaved}
        />
      )}
    </Page>
  );
}

function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

type View = "versions" | "differences" | undefined;

function Tab({ view, now, name }: { view: View; now: View; name: string }) {
  return (
    <Link
      from="/test-sets/$name"
      to="."
      search={({ view: _, ...rest }) => (view === undefined ? rest : { ...rest, view })}
      className="tab"
      data-now={view === now ? "" : undefined}
      activeOptions={{ exact: true, includeSearch: true }}
    >
      {name}
    </Link>
  );
}
