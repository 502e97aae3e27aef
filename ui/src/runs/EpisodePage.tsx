import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { isGone } from "../api/client";
import { CopyButton } from "../components/CopyButton";
import { ErrorNote } from "../components/ErrorNote";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { LATER, useKeys } from "../keys";
import { NoteButton } from "../notes/NoteButton";
import { AddToTestSet } from "../testsets/AddToTestSet";
import { alignedRows } from "./align";
import { copyForms } from "./copies";
import { EpisodeItem, TruthCard } from "./EpisodeItems";
import { EpisodeAfter, EpisodeBefore } from "./EpisodeSide";
import { OutcomeMark, useOutcomes } from "./outcomes";
import { useRunEvents } from "./parts";
import { type Episode, type EpisodeFilter, episodeQuery, neighboursQuery, runQuery } from "./queries";
import { RewindButton } from "./rewind/RewindButton";
import "../components/sections/sections.css";
import "./runs.css";

const route = getRouteApi("/runs/$run/episodes/$task/$trial");

/** So many steps are drawn at first; the rest comes when it is asked for. */
const STEPS = 120;

/** An episode: why it failed, then what was said and done beside what should have been. */
export function EpisodePage() {
  const params = route.useParams();
  const { turn, step, ...filter } = route.useSearch();
  const navigate = useNavigate();
  const { run } = params;
  const task = Number(params.task);
  const trial = Number(params.trial);
  useRunEvents(run);
  const record = useQuery(runQuery(run));
  const found = useQuery(episodeQuery(run, task, trial));
  const gone = isGone(record) || isGone(found);
  const episode = gone ? undefined : found.data;
  const beside = useQuery(neighboursQuery(run, task, trial, filter)).data;
  const walk = useWalk({ run, task, trial }, filter);
  const turns = episode ? [...new Set(episode.items.map((item) => item.turn))] : [];
  const router = useRouter();
  const goTurn = (by: number) => {
    if (!episode) return LATER;
    // What was pressed last may not be drawn yet.
    const { turn } = router.latestLocation.search;
    const now = turn === undefined ? (by > 0 ? -1 : turns.length) : turns.indexOf(Number(turn));
    const next = turns[Math.min(turns.length - 1, Math.max(0, now + by))];
    if (next === undefined) return;
    void navigate({
      to: "/runs/$run/episodes/$task/$trial",
      params,
      search: { ...filter, turn: next },
      replace: true,
    });
  };
  useKeys([
    { keys: "j", does: "Next episode", run: () => walk("next") },
    { keys: "k", does: "Episode before", run: () => walk("previous") },
    { keys: "]", does: "Next turn", run: () => goTurn(1) },
    { keys: "[", does: "Turn before", run: () => goTurn(-1) },
  ]);
  return (
    <Page
      title={`Task ${params.task}, trial ${params.trial}`}
      above={
        <>
          <Link to="/runs">Runs</Link> ›{" "}
          <Link to="/runs/$run" params={{ run }} search={{ tab: "episodes", ...filter }}>
            {episode?.run ?? run}
          </Link>
        </>
      }
      actions={
        <>
          <NoteButton subject={{ run, task, trial }} />
          <AddToTestSet source={{ kind: "episode", run, task, trial }} />
          <CopyButton forms={copyForms({ run, task, trial })} />
          <Step name="Episode before" sign="←" place={beside?.previous} run={run} filter={filter} />
          <Step name="Next episode" sign="→" place={beside?.next} run={run} filter={filter} />
        </>
      }
    >
      {gone && (
        <Gone what="run" name={record.data?.name ?? run}>
          <Link to="/runs">Choose another run</Link>
        </Gone>
      )}
      {found.error && !gone && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="the episode" />}
      {episode && (
        <Content key={`${task} ${trial}`} episode={episode} run={run} turn={turn} step={step} filter={filter} />
      )}
    </Page>
  );
}

interface Place {
  run: string;
  task: number;
  trial: number;
}

/** Goes from episode to episode. Neighbours that are not known yet are waited for, unless the person goes elsewhere. */
function useWalk({ run, task, trial }: Place, filter: EpisodeFilter) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const place = useRef<{ task: number; trial: number } | null>(null);
  const last = useRef(Promise.resolve());
  useEffect(() => {
    place.current = { task, trial };
    return () => {
      place.current = null;
    };
  }, [task, trial]);
  const step = async (way: "next" | "previous") => {
    const from = place.current;
    if (!from) return;
    const to = (await queries.fetchQuery(neighboursQuery(run, from.task, from.trial, filter)))[way];
    const stayed = place.current?.task === from.task && place.current.trial === from.trial;
    if (!to || !stayed) return;
    place.current = to;
    await navigate({
      to: "/runs/$run/episodes/$task/$trial",
      params: { run, task: String(to.task), trial: String(to.trial) },
      search: filter,
    });
  };
  return (way: "next" | "previous") => {
    last.current = last.current.then(() => step(way)).catch(() => undefined);
  };
}

interface StepProps {
  name: string;
  sign: string;
  place: { task: number; trial: number } | null | undefined;
  run: string;
  filter: EpisodeFilter;
}

function Step({ name, sign, place, run, filter }: StepProps) {
  if (!place) {
    return (
      <button type="button" disabled aria-label={name} title={name}>
        {sign}
      </button>
    );
  }
  return (
    <Link
      className="button"
      to="/runs/$run/episodes/$task/$trial"
      params={{ run, task: String(place.task), trial: String(place.trial) }}
      search={filter}
      aria-label={name}
      title={name}
    >
      {sign}
    </Link>
  );
}

interface ContentProps {
  episode: Episode;
  run: string;
  turn: number | undefined;
  /** A step that the address names, such as one with a note. */
  step: number | undefined;
  filter: EpisodeFilter;
}

function Content({ episode, run, turn, step, filter }: ContentProps) {
  const rows = useMemo(() => alignedRows(episode.items, episode.truth), [episode]);
  const wanted = rows.findIndex((row) => (step === undefined ? row.turn === turn : row.item?.step === step));
  const [more, setMore] = useState(STEPS);
  const shown = Math.max(more, wanted + STEPS);
  const place = { run, task: episode.task, trial: episode.trial };
  const marked = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: Scrolls when the address names another place.
  useEffect(() => {
    marked.current?.scrollIntoView({ block: "start" });
  }, [turn, step]);
  return (
    <>
      <Head episode={episode} run={run} />
      <EpisodeBefore episode={episode} />
      <div className="aligned" data-testid="conversation">
        <div className="aligned-row aligned-head">
          <h2>Conversation</h2>
          <h2>Ground truth</h2>
        </div>
        {episode.pruned && <p className="quiet">{episode.pruned}</p>}
        {rows.slice(0, shown).map((row, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: A step may be said and answered; rows never move.
            key={`${row.item?.step ?? "opening"} ${row.item?.who} ${index}`}
            ref={step !== undefined && index === wanted ? marked : null}
            className={step !== undefined && index === wanted ? "named-step" : undefined}
          >
            {row.turn !== null && (
              <div
                className="turn"
                ref={step === undefined && row.turn === turn ? marked : null}
                id={`turn-${row.turn}`}
              >
                <Link
                  to="/runs/$run/episodes/$task/$trial"
                  params={{ run, task: String(episode.task), trial: String(episode.trial) }}
                  search={{ ...filter, turn: row.turn }}
                  replace
                >
                  Turn {row.turn}
                </Link>
                <RewindButton place={place} turn={row.turn} steps={stepsOf(episode, row.turn)} />
              </div>
            )}
            <div className="aligned-row">
              <div className="done">{row.item && <EpisodeItem item={row.item} place={place} />}</div>
              <div className="wanted">
                {row.truths.map((truth, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: The same action may be wanted twice; none moves.
                  <TruthCard key={place} truth={truth} />
                ))}
              </div>
            </div>
          </div>
        ))}
        {rows.length > shown && (
          <button type="button" onClick={() => setMore(shown + STEPS)}>
            Show {Math.min(STEPS, rows.length - shown)} more of {rows.length} items
          </button>
        )}
        {!rows.length && !episode.pruned && <p className="quiet">Nothing was said or done.</p>}
        {rows.length > 0 && !episode.truth.length && <p className="quiet">The task asks for no action.</p>}
      </div>
      <EpisodeAfter episode={episode} />
    </>
  );
}

/** The tools that were called in a turn: each is a place to go on from. */
function stepsOf(episode: Episode, turn: number) {
  return episode.items.flatMap((item) =>
    item.turn === turn && item.kind === "call" && item.step !== null
      ? [{ step: item.step + 1, name: item.tool ?? "" }]
      : [],
  );
}

function Head({ episode, run }: { episode: Episode; run: string }) {
  const words = useOutcomes();
  return (
    <>
      <div className="episode-head">
        <span className="outcome" data-testid="outcome">
          <OutcomeMark outcome={episode.outcome} /> {episode.outcome.label}
          <span className="quiet"> {episode.outcome.meaning}</span>
        </span>
        {episode.trials.length > 1 && (
          <nav className="row" aria-label="Trials of this task">
            {episode.trials.map((outcome, trial) => {
              const one = words(outcome);
              const name = `Trial ${trial}: ${one.label}`;
              return outcome === null ? (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: The place is the trial.
                  key={trial}
                  className="cell missing"
                  role="img"
                  aria-label={name}
                />
              ) : (
                <Link
                  // biome-ignore lint/suspicious/noArrayIndexKey: The place is the trial.
                  key={trial}
                  className={`cell ${one.tone}`}
                  to="/runs/$run/episodes/$task/$trial"
                  params={{ run, task: String(episode.task), trial: String(trial) }}
                  preload={false}
                  aria-label={name}
                  aria-current={trial === episode.trial ? "page" : undefined}
                  title={name}
                >
                  {one.symbol}
                </Link>
              );
            })}
          </nav>
        )}
        <Link
          to="/runs/$run/tasks/$task/beside"
          params={{ run, task: String(episode.task) }}
          search={{ trial: episode.trial }}
        >
          Beside another run
        </Link>
      </div>
      {episode.why && (
        <div className="why" data-testid="why">
          <p>
            <b>{episode.why.label}</b> {episode.why.sentence}
          </p>
          {episode.why.others.length > 0 && <p className="quiet">Also: {episode.why.others.join(", ")}</p>}
        </div>
      )}
      {episode.error && <p className="error-note">{episode.error}</p>}
    </>
  );
}
