import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Chart } from "../components/charts/Chart";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Power } from "../components/Power";
import { Warnings } from "../components/Warnings";
import { dateWords } from "../time";
import { Command, Progress, useRunEvents } from "./parts";
import { addressOf, type TrendPoint, trendQuery } from "./queries";
import "../components/sections/sections.css";
import "./runs.css";

const route = getRouteApi("/trends");

/** The runs of one agent over time. */
export function TrendsPage() {
  const { agent = "", env = "" } = route.useSearch();
  const navigate = useNavigate();
  useRunEvents();
  const found = useInfiniteQuery(trendQuery(agent, env));
  const pages = found.data?.pages ?? [];
  const subjects = pages[0]?.subjects ?? [];
  const items = pages.flatMap((page) => page.items);
  const sets = new Set(items.map((one) => one.played_on)).size;
  const chosen = agent ? JSON.stringify([agent, env]) : "";
  const choices = [...new Set(subjects.map((one) => JSON.stringify([one.agent, one.env])))];
  if (chosen && !choices.includes(chosen)) choices.push(chosen);
  return (
    <Page
      title={agent ? `${agent} over time` : "Trends"}
      above={<Link to="/runs">Runs</Link>}
      actions={
        subjects.length > 0 && (
          <label className="name-choice">
            Agent{" "}
            <select
              value={chosen}
              onChange={(event) => {
                const one = subjects.find(
                  (subject) => JSON.stringify([subject.agent, subject.env]) === event.target.value,
                );
                if (one) void navigate({ to: "/trends", search: { agent: one.agent, env: one.env } });
              }}
            >
              <option value="">choose one</option>
              {choices.map((one) => (
                <option key={one} value={one}>
                  {wordsOf(one)}
                </option>
              ))}
            </select>
          </label>
        )
      }
    >
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the runs" />}
      {found.data && !agent && (
        <EmptyState title={subjects.length ? "Choose an agent." : "There are no runs yet."}>
          {!subjects.length && <Command text="greenroom run --agent-strategy synthetic --num-trials 4" />}
        </EmptyState>
      )}
      {found.data && agent && !items.length && <EmptyState title={`${agent} has no runs here.`} />}
      {items.length > 0 && (
        <div className="trend">
          {sets > 1 && (
            <Warnings notes={[`These runs are of ${sets} task sets: only figures of one task set can be compared.`]} />
          )}
          {pages[0]?.chart && <Chart chart={pages[0].chart} />}
          <TrendTable items={items} domains={!env} />
          {found.hasNextPage && (
            <button type="button" onClick={() => void found.fetchNextPage()} disabled={found.isFetchingNextPage}>
              Older runs
            </button>
          )}
        </div>
      )}
    </Page>
  );
}

function wordsOf(choice: string): string {
  const [agent, env]: unknown[] = JSON.parse(choice);
  return env ? `${agent}, ${env}` : String(agent);
}

/** There may be runs of several domains and task sets, and only runs of one task set can be compared. */
function TrendTable({ items, domains }: { items: readonly TrendPoint[]; domains: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <section className="scroll" tabIndex={0} aria-label="Runs over time, the newest first">
      <table className="section-table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col" className="number">
              <Power text="pass^1" />
            </th>
            <th scope="col" className="number">
              95 % interval
            </th>
            <th scope="col" className="wide">
              Begun
            </th>
            {domains && (
              <th scope="col" className="wide">
                Domain
              </th>
            )}
            <th scope="col">Task set</th>
            <th scope="col" className="number wide">
              Episodes
            </th>
            <th scope="col">
              <span className="hidden-label">Compare</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((one, place) => {
            const before = items.slice(place + 1).find((other) => other.played_on === one.played_on);
            return (
              <tr key={one.run.id}>
                <th scope="row">
                  <Link to="/runs/$run" params={{ run: addressOf(one.run) }}>
                    {one.run.name}
                  </Link>
                  {one.run.model && <span className="quiet"> {one.run.model}</span>}
                </th>
                <td className="number">{one.value}</td>
                <td className="number nowrap">{one.interval}</td>
                <td className="wide">{dateWords(one.run.created_at)}</td>
                {domains && <td className="wide">{one.run.env}</td>}
                <td className="played-on">{one.played_on}</td>
                <td className="number wide">
                  <Progress run={one.run} />
                </td>
                <td>
                  {before && (
                    <Link to="/runs/compare" search={{ a: addressOf(before.run), b: addressOf(one.run) }}>
                      compare with the one before
                    </Link>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
