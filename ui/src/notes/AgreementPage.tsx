import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, got } from "../api/client";
import type { components } from "../api/schema";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Figure } from "../components/Figure";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { type About, DifferingCases, type Question } from "./DifferingCases";
import { useNoteEvents } from "./store";
import "./notes.css";

type Agreement = components["schemas"]["Agreement"];
type AgreementFigure = components["schemas"]["AgreementFigure"];

const route = getRouteApi("/notes/agreement");

/** How far people, and judges, agree about a run, and the cases where they differ. */
export function AgreementPage() {
  const search = route.useSearch();
  const { run, evaluation } = search;
  useNoteEvents();
  const named = run ?? evaluation;
  const about: About = run !== undefined ? { run } : { evaluation: evaluation ?? "" };
  const found = useQuery({
    queryKey: ["notes", "agreement", about],
    queryFn: ({ signal }) => got(api.GET("/api/v1/agreement", { params: { query: about }, signal })),
    enabled: named !== undefined,
  });
  if (named === undefined) {
    return (
      <Page title="Agreement">
        <EmptyState title="Agreement about which run?">
          <p>
            Open a run, or <Link to="/notes">notes</Link> narrowed to a run, and choose “Agreement”.
          </p>
        </EmptyState>
      </Page>
    );
  }
  const question: Question = {
    about: search.about ?? "verdict",
    value: search.value ?? null,
    with_judges: search.judges === "yes",
  };
  return (
    <Page
      title={`Agreement about ${named}`}
      above={
        <Link to="/notes" search={run !== undefined ? { run } : { evaluation: named }}>
          Notes
        </Link>
      }
    >
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading what="agreement" />}
      {found.data && <Found agreement={found.data} about={about} question={question} />}
    </Page>
  );
}

interface FoundProps {
  agreement: Agreement;
  about: About;
  question: Question;
}

function Found({ agreement, about, question }: FoundProps) {
  const chosen = agreement.figures.find((one) => isSame(one, question)) ?? agreement.figures[0];
  if (!agreement.raters.length) {
    return (
      <EmptyState title="Nobody has marked anything here yet.">
        <p>
          Agreement needs two people, or a person and a judge (<code>greenroom identify</code>), who give verdicts or
          tags to the same episodes.
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      {chosen && (
        <Figure large name={<bdi>{questionWords(chosen)}</bdi>} value={alphaWords(chosen)}>
          <p className="agreement-words">{chosen.words}</p>
        </Figure>
      )}
      <p className="quiet agreement-words">
        Krippendorff’s alpha: 1 where all agree, 0 where they agree as often as by chance. From 0.8 conclusions can rest
        on it, from 0.667 tentative ones can.
        {agreement.figures.some((one) => one.with_judges) &&
          " To a judge the task is a part of the environment, so with judges the two count as one verdict."}
      </p>
      <ul className="facts" aria-label="Raters">
        {agreement.raters.map((rater) => (
          <li key={`${rater.kind} ${rater.name}`}>
            <bdi>{rater.name}</bdi>
            <span className="quiet">
              {" "}
              {rater.kind === "judge" ? "judge, " : ""}
              {rater.episodes} {rater.episodes === 1 ? "episode" : "episodes"}
            </span>
          </li>
        ))}
      </ul>
      <FigureTable figures={agreement.figures} question={question} />
      <h2>Where they differ: {chosen ? <bdi>{questionWords(chosen)}</bdi> : "verdicts"}</h2>
      <DifferingCases about={about} question={question} />
    </>
  );
}

function FigureTable({ figures, question }: { figures: readonly AgreementFigure[]; question: Question }) {
  return (
    <div className="table-scroll">
      <table className="data-table agreement-table" aria-label="Agreement by question">
        <thead>
          <tr>
            <th scope="col">About</th>
            <th scope="col">Among</th>
            <th scope="col" className="number">
              Alpha
            </th>
            <th scope="col" className="number">
              Raters
            </th>
            <th scope="col" className="number">
              All the same
            </th>
            <th scope="col" className="wide">
              Meaning
            </th>
          </tr>
        </thead>
        <tbody>
          {figures.map((one) => (
            <tr key={`${one.about} ${one.value} ${one.with_judges}`} aria-current={isSame(one, question)}>
              <td>
                <Link
                  from="/notes/agreement"
                  to="/notes/agreement"
                  search={({ run, evaluation }) => ({
                    ...(run === undefined ? {} : { run }),
                    ...(evaluation === undefined ? {} : { evaluation }),
                    about: one.about,
                    ...(typeof one.value === "string" ? { value: one.value } : {}),
                    ...(one.with_judges ? { judges: "yes" as const } : {}),
                  })}
                >
                  <bdi>{questionWords(one)}</bdi>
                </Link>
              </td>
              <td>{one.with_judges ? "people and judges" : "people"}</td>
              <td className="number alpha">{one.alpha === null ? "–" : numberWords(one.alpha)}</td>
              <td className="number">{one.raters}</td>
              <td className="number">
                {one.agreed} of {one.episodes}
              </td>
              <td className="wide">{one.words}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function isSame(one: AgreementFigure, question: Question): boolean {
  return (
    one.about === question.about && (one.value ?? null) === question.value && one.with_judges === question.with_judges
  );
}

function questionWords(one: AgreementFigure): string {
  if (one.about === "tag") return `tag “${one.value}”`;
  return typeof one.value === "string" ? `${one.value} at fault` : "who is at fault";
}

function alphaWords(one: AgreementFigure): string {
  if (one.alpha === null) return "Not enough";
  return `α ${numberWords(one.alpha)}`;
}

function numberWords(alpha: number): string {
  return alpha.toFixed(2).replace("-", "−");
}
