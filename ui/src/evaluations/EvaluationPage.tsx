import * as Tabs from "@radix-ui/react-tabs";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { api, failure, got, isGone } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Figure } from "../components/Figure";
import { Gates } from "../components/Gates";
import { Gone } from "../components/Gone";
import { Interval } from "../components/Interval";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { FactList, Sections, type Shown } from "../components/sections/Sections";
import { Warnings } from "../components/Warnings";
import { Command, Status } from "../runs/parts";
import { Progress, useEvaluationEvents } from "./parts";
import { type Evaluation, evaluationQuery, reportQuery } from "./queries";
import { ResultsView } from "./ResultsView";
import { TABS, type Tab } from "./routes";
import "../runs/runs.css";
import "./evaluations.css";

const route = getRouteApi("/evaluations/$name");

const NAMES: Record<Tab, string> = { results: "Results", figures: "Figures", setup: "Setup" };
const SETUP = ["provenance", "configuration", "setup"];

/** One evaluation: how it stands, its figures, and its results row by row. */
export function EvaluationPage() {
  const { name } = route.useParams();
  const found = useQuery(evaluationQuery(name));
  useEvaluationEvents(name);
  const above = <Link to="/evaluations">Evaluations</Link>;
  if (!found.data || failure(found)) {
    return (
      <Page title={name} above={above}>
        {isGone(found) ? (
          <Gone what="evaluation" name={found.data?.name ?? name}>
            <Link to="/evaluations">Choose another evaluation</Link>
          </Gone>
        ) : found.error ? (
          <ErrorNote error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <Loading what="the evaluation" />
        )}
      </Page>
    );
  }
  return (
    <Page title={found.data.name} above={above} actions={<Actions name={name} one={found.data} />}>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      <Report name={name} one={found.data} />
    </Page>
  );
}

interface PartProps {
  /** As the address has it. */
  name: string;
  one: Evaluation;
}

function Actions({ name, one }: PartProps) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "stop" | "resume") => {
      const path = { params: { path: { name } } };
      return got(
        what === "stop"
          ? api.POST("/api/v1/evaluations/{name}/stop", path)
          : api.POST("/api/v1/evaluations/{name}/resume", path),
      );
    },
    onSuccess: (now) => queries.setQueryData(evaluationQuery(name).queryKey, now),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["evaluations", "one", name] }),
  });
  return (
    <>
      <Status status={one.status} />
      {one.here && (
        <button type="button" disabled={act.isPending} onClick={() => act.mutate("stop")}>
          {act.isPending ? "Stopping …" : "Stop"}
        </button>
      )}
      {one.status === "interrupted" && (
        <button type="button" className="main" disabled={act.isPending} onClick={() => act.mutate("resume")}>
          {act.isPending ? "Starting …" : "Resume"}
        </button>
      )}
      <Link className="button" to="/evaluations/compare" search={{ b: name }}>
        Compare
      </Link>
      <Link className="button" to="/evaluations/new" search={{ like: name }}>
        Run again
      </Link>
      {act.error && <ErrorNote error={act.error} />}
    </>
  );
}

function Report({ name, one }: PartProps) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const report = useQuery(reportQuery(name, one.finished, one.status));
  const sections = report.data?.sections ?? [];
  const tab = search.tab ?? "results";
  // Rows come in while it runs: the first pages are loaded again, and all at its end.
  const seen = useRef(`${one.finished} ${one.status}`);
  useEffect(() => {
    const now = `${one.finished} ${one.status}`;
    if (seen.current === now) return;
    seen.current = now;
    void queries.invalidateQueries({
      queryKey: ["evaluations", "results", name],
      predicate: ({ state }) => {
        const data = state.data as { pages?: unknown[] } | undefined;
        return one.status !== "running" || (data?.pages?.length ?? 0) <= 2;
      },
    });
  }, [one.finished, one.status, name, queries]);
  const shown = (wanted: (id: string) => boolean) => {
    const found = sections.filter((section) => wanted(section.id));
    if (found.length) return <Sections sections={found} />;
    return report.data ? (
      <p className="quiet nothing">There is nothing to show here yet.</p>
    ) : (
      <Loading what="figures" />
    );
  };
  const openTab = (next: string) => {
    const chosen = TABS.find((other) => other === next);
    const { row: _, repeat: __, tab: ___, ...rest } = search;
    const kept = chosen === "results" ? rest : { ...rest, ...(chosen ? { tab: chosen } : {}) };
    void navigate({ to: "/evaluations/$name", params: { name }, search: kept });
  };
  return (
    <>
      <div className="run-head">
        {report.data && <p className="headline">{report.data.headline}</p>}
        {report.error && <ErrorNote error={report.error} onRetry={() => void report.refetch()} />}
        <HowItStands one={one} />
        {report.data && <Gates gates={report.data.gates} />}
        {report.data && <Warnings notes={report.data.notes} />}
        {tab === "results" && <Scores sections={sections} />}
        {report.data && tab !== "results" && <FactList facts={report.data.facts} />}
      </div>
      <Tabs.Root value={tab} onValueChange={openTab} activationMode="manual">
        <Tabs.List className="tabs" aria-label="Parts of the evaluation">
          {TABS.map((one) => (
            <Tabs.Trigger key={one} value={one}>
              {NAMES[one]}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="results" className="tab-content" tabIndex={-1}>
          <ResultsView name={name} one={one} />
        </Tabs.Content>
        <Tabs.Content value="figures" className="tab-content" tabIndex={-1}>
          {shown((id) => !SETUP.includes(id))}
        </Tabs.Content>
        <Tabs.Content value="setup" className="tab-content" tabIndex={-1}>
          {shown((id) => SETUP.includes(id))}
          <p className="quiet">
            As a report: <Command text={one.export} />
          </p>
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}

/** The scores alone: the tab of figures has the rest. */
function Scores({ sections }: { sections: readonly Shown[] }) {
  const found = sections.find((section) => section.type === "figures");
  if (found?.type !== "figures") return null;
  return (
    <div className="figures prominent">
      {found.figures
        .filter((one) => one.prominent)
        .map((one) => (
          <Figure key={one.key} name={one.label} value={one.value} large>
            {typeof one.number === "number" && typeof one.low === "number" && typeof one.high === "number" && (
              <Interval value={one.number} low={one.low} high={one.high} text={one.interval} />
            )}
            <p className="meaning">{one.meaning}</p>
          </Figure>
        ))}
    </div>
  );
}

function HowItStands({ one }: { one: Evaluation }) {
  return (
    <>
      {one.status !== "complete" && (
        <p className="run-progress" role="status">
          <Progress one={one} /> calls have a result
        </p>
      )}
      {one.problem && <ErrorNote error={new Error(`It stopped: ${one.problem}`)} />}
      {one.status === "interrupted" && one.resume && (
        <p className="quiet">
          Resume goes on with the calls that have no result. In a terminal: <Command text={one.resume} />
        </p>
      )}
      {one.status === "running" && !one.here && (
        <p className="quiet">Another process works on it. Stop it there, by Ctrl-C.</p>
      )}
    </>
  );
}
