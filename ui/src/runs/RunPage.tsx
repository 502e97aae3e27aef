import * as Tabs from "@radix-ui/react-tabs";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { failure, isGone } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Gates } from "../components/Gates";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Power } from "../components/Power";
import { FactList, type KindCount, Sections, type Shown } from "../components/sections/Sections";
import { Warnings } from "../components/Warnings";
import { EpisodeList } from "./EpisodeList";
import { Command, Progress, percentWords, Status, useAskAgain, useRunEvents } from "./parts";
import { type Run, reportQuery, runQuery } from "./queries";
import { RunGrid } from "./RunGrid";
import { TABS, type Tab } from "./routes";
import "./runs.css";

const route = getRouteApi("/runs/$run");

const NAMES: Record<Tab, string> = {
  overview: "Overview",
  tasks: "Tasks",
  episodes: "Episodes",
  slices: "Slices",
  costs: "Costs, time, tools",
  setup: "Setup",
};

/** The sections of the report that a tab shows. */
function tabOf(section: Shown): Tab {
  if (section.id.startsWith("slices-")) return "slices";
  if (["costs", "latency", "tools", "agent", "cost-quality"].includes(section.id)) return "costs";
  if (["provenance", "configuration", "policy"].includes(section.id)) return "setup";
  return "overview";
}

/** One run: what matters first, then its figures, tasks and episodes. */
export function RunPage() {
  const { run } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  useRunEvents(run);
  const found = useQuery(runQuery(run));
  const tab = search.tab ?? "overview";
  if (failure(found)) {
    return (
      <Page title={run} above={<Link to="/runs">Runs</Link>}>
        {isGone(found) ? (
          <Gone what="run" name={found.data?.name ?? run}>
            <Link to="/runs">Choose another run</Link>
          </Gone>
        ) : (
          <ErrorNote error={found.error} onRetry={() => void found.refetch()} />
        )}
      </Page>
    );
  }
  if (!found.data) {
    return (
      <Page title={run} above={<Link to="/runs">Runs</Link>}>
        <Loading what="the run" />
      </Page>
    );
  }
  return (
    <Page
      title={found.data.name}
      above={<Link to="/runs">Runs</Link>}
      actions={
        <>
          <Status status={found.data.status} />
          <Link className="button" to="/runs/compare" search={{ b: run }}>
            Compare
          </Link>
          <Link className="button" to="/trends" search={{ agent: found.data.agent, env: found.data.env }}>
            Trend
          </Link>
        </>
      }
    >
      <Report run={run} record={found.data} tab={tab} onTab={(next) => openTab(next)} />
    </Page>
  );

  function openTab(next: string) {
    const chosen = TABS.find((one) => one === next);
    if (chosen) void navigate({ to: "/runs/$run", params: { run }, search: { ...search, tab: chosen } });
  }
}

interface ReportProps {
  run: string;
  record: Run;
  tab: Tab;
  onTab: (tab: string) => void;
}

function Report({ run, record, tab, onTab }: ReportProps) {
  const report = useQuery(reportQuery(run));
  useAskAgain(`${record.finished} ${record.status}`, report);
  const sections = report.data?.sections ?? [];
  const kindLink = (kind: KindCount) => (
    <Link to="/runs/$run" params={{ run }} search={{ tab: "episodes", kind: kind.kind }}>
      {kind.label}
    </Link>
  );
  const shown = (name: Tab) => {
    const found = sections.filter((section) => tabOf(section) === name);
    if (found.length) return <Sections sections={found} kindLink={kindLink} />;
    return report.data ? (
      <p className="quiet nothing">There is nothing to show here yet.</p>
    ) : (
      <Loading what="the figures" />
    );
  };
  return (
    <>
      <div className="run-head" data-tab={tab}>
        {report.data && (
          <p className="headline">
            <Power text={report.data.headline} />
          </p>
        )}
        {report.isPending && (
          <p className="headline quiet" role="status">
            {record.finished ? `Counting ${record.finished.toLocaleString("en")} episodes …` : "Loading the report …"}{" "}
            {record.pass_1 !== null && <Power text={`pass^1 is ${percentWords(record.pass_1)}`} />}
          </p>
        )}
        {report.error && <ErrorNote error={report.error} onRetry={() => void report.refetch()} />}
        {report.data && <Gates gates={report.data.gates} />}
        {report.data && <Warnings notes={report.data.notes} />}
        <HowToGoOn record={record} />
        {report.data && <FactList facts={report.data.facts} />}
      </div>
      <Tabs.Root value={tab} onValueChange={onTab} activationMode="manual">
        <Tabs.List className="tabs" aria-label="Parts of the run">
          {TABS.map((name) => (
            <Tabs.Trigger key={name} value={name} ref={name === tab ? intoView : undefined}>
              {NAMES[name]}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {TABS.map((name) => (
          <Tabs.Content key={name} value={name} className="tab-content" tabIndex={-1}>
            {name === "tasks" ? (
              <RunGrid run={run} finished={record.finished} />
            ) : name === "episodes" ? (
              <EpisodeList run={run} record={record} sections={sections} />
            ) : (
              shown(name)
            )}
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </>
  );
}

/** On a narrow screen the tabs scroll: the current one is brought into view. */
function intoView(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function HowToGoOn({ record }: { record: Run }) {
  return (
    <>
      {record.status !== "complete" && (
        <p className="run-progress" role="status">
          <Progress run={record} /> episodes have a result
        </p>
      )}
      {record.resume && (
        <p className="quiet">
          Play the rest: <Command text={record.resume} />
        </p>
      )}
      {record.watch && (
        <p className="quiet">
          In a terminal: <Command text={record.watch} />
        </p>
      )}
    </>
  );
}
