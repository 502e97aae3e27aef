import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { failure, isGone } from "../api/client";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { LongText } from "../components/LongText";
import { Page } from "../components/Page";
import { Warnings } from "../components/Warnings";
import { LATER, useKeys } from "../keys";
import { Differs } from "./Differs";
import { differing, EpisodeItem } from "./EpisodeItems";
import { OutcomeMark, useOutcomes } from "./outcomes";
import { type Beside, besideQuery, runQuery } from "./queries";
import { RunChoice } from "./RunChoice";
import "./runs.css";

const route = getRouteApi("/runs/$run/tasks/$task/beside");

type Side = Beside["left"];
type Row = Beside["rows"][number];

/** Two runs on one task, aligned step by step. */
export function BesidePage() {
  const { run, task } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const open = (next: typeof search) =>
    void navigate({ to: "/runs/$run/tasks/$task/beside", params: { run, task }, search: next, replace: true });
  return (
    <Page
      title={`Task ${task}, side by side`}
      above={
        <>
          <Link to="/runs">Runs</Link> ›{" "}
          <Link to="/runs/$run" params={{ run }}>
            {run}
          </Link>
        </>
      }
      actions={
        <RunChoice
          label="Beside"
          value={search.other}
          onChoose={(other) => open({ other, ...(search.trial === undefined ? {} : { trial: search.trial }) })}
        />
      }
    >
      {search.other ? (
        <Both run={run} task={Number(task)} search={{ ...search, other: search.other }} onOpen={open} />
      ) : (
        <EmptyState title="Choose the run that is to stand beside it." />
      )}
    </Page>
  );
}

interface Chosen {
  other: string;
  trial?: number;
  other_trial?: number;
  other_task?: number;
}

interface BothProps {
  run: string;
  task: number;
  search: Chosen;
  onOpen: (search: Chosen) => void;
}

function Both({ run, task, search, onOpen }: BothProps) {
  const found = useQuery(besideQuery(run, task, search));
  const data = found.data;
  useKeys([
    {
      keys: "g",
      does: "Go to where they part",
      run: () => (data ? document.getElementById("parting")?.scrollIntoView({ block: "center" }) : LATER),
    },
  ]);
  const gone = [useQuery(runQuery(run)), useQuery(runQuery(search.other))].find(isGone);
  if (gone) {
    return (
      <Gone what="run" name={gone.data?.name ?? ""}>
        <Link to="/runs">Choose another run</Link>
      </Gone>
    );
  }
  if (failure(found)) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (!data) return <Loading what="both episodes" />;
  const trials = { trial: data.left.trial, other_trial: data.right.trial };
  return (
    <>
      <Warnings notes={data.warnings} />
      <details className="instruction">
        <summary>The user's task</summary>
        <LongText text={data.instruction} plain />
      </details>
      <div className="beside">
        <div className="beside-row beside-head">
          <SideHead side={data.left} onTrial={(trial) => onOpen({ ...search, ...trials, trial })} />
          <SideHead side={data.right} onTrial={(other_trial) => onOpen({ ...search, ...trials, other_trial })} />
        </div>
        {data.parting === null && <p className="quiet">The two do the same, step by step.</p>}
        {data.rows.map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: Rows never move.
          <BesideRow key={place} row={row} data={data} parts={place === data.parting} />
        ))}
      </div>
    </>
  );
}

function SideHead({ side, onTrial }: { side: Side; onTrial: (trial: number) => void }) {
  const words = useOutcomes();
  return (
    <div>
      <h2>
        <Link
          to="/runs/$run/episodes/$task/$trial"
          params={{ run: side.run_id, task: String(side.task), trial: String(side.trial) }}
        >
          {side.run}, trial {side.trial}
        </Link>
      </h2>
      <p>
        <OutcomeMark outcome={side.outcome} /> {side.outcome.label}{" "}
        <span className="quiet">
          {side.agent}; {side.steps} steps
        </span>
      </p>
      {side.why && <p className="why-short">{side.why.sentence}</p>}
      {side.trials.length > 1 && (
        <fieldset className="row">
          <legend className="hidden-label">{`Trials of ${side.run}`}</legend>
          {side.trials.map((outcome, trial) => (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: The place is the trial.
              key={trial}
              type="button"
              className={`cell ${words(outcome).tone}`}
              disabled={outcome === null}
              aria-pressed={trial === side.trial}
              aria-label={`Trial ${trial}: ${words(outcome).label}`}
              title={`Trial ${trial}: ${words(outcome).label}`}
              onClick={() => onTrial(trial)}
            >
              {words(outcome).symbol}
            </button>
          ))}
        </fieldset>
      )}
    </div>
  );
}

const RELATIONS: Record<Row["relation"], string> = {
  opening: "",
  same: "",
  words: "other words",
  arguments: "other arguments",
  left: "only on the left",
  right: "only on the right",
};

function BesideRow({ row, data, parts }: { row: Row; data: Beside; parts: boolean }) {
  const place = (side: Side) => ({ run: side.run_id, task: side.task, trial: side.trial });
  return (
    <>
      {parts && (
        <div className="parting" id="parting">
          Here they part
        </div>
      )}
      <div className={`beside-row ${row.relation}`} data-relation={row.relation}>
        <div>
          {row.left.map((item) => (
            <EpisodeItem key={`${item.step} ${item.who}`} item={item} place={place(data.left)} />
          ))}
        </div>
        <div>
          {row.right.map((item) => (
            <EpisodeItem key={`${item.step} ${item.who}`} item={item} place={place(data.right)} />
          ))}
        </div>
        {RELATIONS[row.relation] && <p className="relation quiet">{RELATIONS[row.relation]}</p>}
        {row.differs.length > 0 && <Differs className="beside-differs" rows={row.differs.map(differing)} />}
      </div>
    </>
  );
}
