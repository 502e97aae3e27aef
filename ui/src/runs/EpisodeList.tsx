import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Choice, type Choices } from "../components/Choice";
import { type Column, DataTable } from "../components/DataTable";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { SearchField } from "../components/SearchField";
import type { Shown } from "../components/sections/Sections";
import { NOTED } from "../notes/choices";
import { type Marks, useMarked } from "../notes/marked";
import { OutcomeMark, useOutcomes } from "./outcomes";
import { useAskAgain } from "./parts";
import { type EpisodeFilter, type EpisodeItem, episodesQuery, type OutcomeWords, type Run } from "./queries";

const route = getRouteApi("/runs/$run");

interface EpisodeListProps {
  run: string;
  record: Run;
  sections: readonly Shown[];
}

/** The episodes of a run; every filter is in the address. */
export function EpisodeList({ run, record, sections }: EpisodeListProps) {
  const search = route.useSearch();
  const filter = useMemo(() => {
    const { tab: _, trials: __, ...rest } = search;
    return rest;
  }, [search]);
  const navigate = useNavigate();
  const words = useOutcomes();
  const found = useInfiniteQuery(episodesQuery(run, filter));
  useAskAgain(String(record.finished), found);
  const episodes = found.data?.pages.flatMap((page) => page.items) ?? [];
  const set = useCallback(
    (next: FilterChange) =>
      void navigate({
        to: "/runs/$run",
        params: { run },
        search: { tab: "episodes", ...filled({ ...filter, ...next }) },
        replace: true,
      }),
    [navigate, run, filter],
  );
  const find = useCallback((q: string) => set({ q }), [set]);
  const marked = useMarked({ run });
  const columns = useMemo(() => columnsOf(run, filter, words, marked), [run, filter, words, marked]);
  return (
    <>
      <search className="tools">
        <SearchField value={filter.q ?? ""} label="Find words in episodes" onChange={find} />
        <Choice
          label="Outcome"
          value={filter.outcome}
          choices={record.outcomes.map((one) => [one.outcome, `${one.label} (${one.count})`])}
          onChoose={(outcome) => set({ outcome })}
        />
        <Choice
          label="Kind of failure"
          value={filter.kind}
          choices={kindsOf(sections)}
          onChoose={(kind) => set({ kind })}
        />
        <Choice label="Tool" value={filter.tool} choices={toolsOf(sections)} onChoose={(tool) => set({ tool })} />
        <Choice
          label="Notes"
          value={filter.noted}
          choices={NOTED.map((one) => [one, one === "any" ? "with notes" : `${one} at fault`])}
          onChoose={(noted) => set({ noted: NOTED.find((one) => one === noted) })}
        />
        {filter.task !== undefined && (
          <span className="badge">
            task {filter.task}{" "}
            <button
              type="button"
              className="plain small"
              aria-label="All tasks"
              onClick={() =>
                void navigate({
                  to: "/runs/$run",
                  params: { run },
                  search: ({ task: ___, ...rest }) => ({ ...rest, tab: "episodes" as const }),
                })
              }
            >
              ×
            </button>
          </span>
        )}
        {Object.keys(filter).length > 0 && (
          <Link to="/runs/$run" params={{ run }} search={{ tab: "episodes" }} activeOptions={{ exact: true }}>
            All episodes
          </Link>
        )}
      </search>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the episodes" />}
      {found.data && !episodes.length && (
        <EmptyState title="No episode is like that.">
          {Object.keys(filter).length ? "Choose another filter." : "Nothing has been played yet."}
        </EmptyState>
      )}
      {episodes.length > 0 && (
        <div className="list-frame">
          <DataTable
            label="Episodes"
            columns={columns}
            rows={episodes}
            keyOf={(one) => `${one.task} ${one.trial}`}
            onOpen={(one) =>
              void navigate({
                to: "/runs/$run/episodes/$task/$trial",
                params: { run, task: String(one.task), trial: String(one.trial) },
                search: filter,
              })
            }
            onEnd={() => found.hasNextPage && !found.isFetchingNextPage && void found.fetchNextPage()}
          />
        </div>
      )}
    </>
  );
}

/** What changes in a filter; undefined takes something out. */
type FilterChange = { [Name in keyof EpisodeFilter]: EpisodeFilter[Name] | undefined };

/** A filter without what is empty. */
function filled(filter: FilterChange): EpisodeFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ""));
}

function kindsOf(sections: readonly Shown[]): Choices {
  const found = sections.find((section) => section.type === "failures");
  return found?.type === "failures" ? found.kinds.map((one) => [one.kind, `${one.label} (${one.count})`] as const) : [];
}

function toolsOf(sections: readonly Shown[]): Choices {
  const found = sections.find((section) => section.id === "tools");
  if (found?.type !== "table") return [];
  return found.rows.map((row) => [row.cells[0] ?? "", row.cells[0] ?? ""] as const).filter(([tool]) => tool !== "");
}

function columnsOf(
  run: string,
  filter: EpisodeFilter,
  words: (outcome: string | null) => OutcomeWords,
  marked: Marks,
): Column<EpisodeItem>[] {
  return [
    {
      id: "episode",
      name: "Episode",
      cell: (one) => (
        <Link
          className="nowrap"
          to="/runs/$run/episodes/$task/$trial"
          params={{ run, task: String(one.task), trial: String(one.trial) }}
          search={filter}
          preload={false}
        >
          {`Task ${one.task}, trial ${one.trial}`}
        </Link>
      ),
    },
    {
      id: "outcome",
      name: "Outcome",
      cell: (one) => (
        <span className="nowrap">
          <OutcomeMark outcome={words(one.outcome)} /> {one.label}
        </span>
      ),
    },
    { id: "why", name: "Why it failed", cell: (one) => <div className="clamped reason">{one.why}</div> },
    { id: "wish", name: "What the user wants", cell: (one) => <div className="clamped">{one.wish}</div>, wide: true },
    {
      id: "notes",
      name: "Notes",
      cell: (one) => marked(one.task, one.trial)?.notes,
      number: true,
      wide: true,
    },
    { id: "steps", name: "Steps", cell: (one) => one.steps, number: true, wide: true },
    { id: "turns", name: "Turns", cell: (one) => one.turns, number: true, wide: true },
  ];
}
