import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { failure, isGone } from "../api/client";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Gone } from "../components/Gone";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Sections } from "../components/sections/Sections";
import { VerdictHead } from "../components/VerdictHead";
import { Command } from "../runs/parts";
import { dateWords } from "../time";
import { ComparedRows } from "./ComparedRows";
import { EvaluationChoice } from "./choices";
import { workflowWords } from "./parts";
import { comparisonQuery, type EvaluationItem, evaluationQuery } from "./queries";
import "../runs/runs.css";
import "./evaluations.css";

const route = getRouteApi("/evaluations/compare");

/** Two evaluations row by row: the verdict in words, what broke, what healed, and both outputs side by side. */
export function ComparePage() {
  const { a, b } = route.useSearch();
  const navigate = useNavigate();
  const one = a ?? b;
  const known = useQuery({ ...evaluationQuery(one ?? ""), enabled: one !== undefined });
  const testSet = known.data?.test_set;
  const open = (next: { a?: string; b?: string }) =>
    void navigate({
      to: "/evaluations/compare",
      search: { ...(a ? { a } : {}), ...(b ? { b } : {}), ...next },
      replace: true,
    });
  return (
    <Page
      title="Compare two evaluations"
      above={<Link to="/evaluations">Evaluations</Link>}
      actions={
        <>
          <EvaluationChoice label="Before" value={a} testSet={testSet} onChoose={(name) => open({ a: name })} />
          <EvaluationChoice label="Now" value={b} testSet={testSet} onChoose={(name) => open({ b: name })} />
          {a && b && (
            <Link className="button" to="/evaluations/compare" search={{ a: b, b: a }}>
              Swap
            </Link>
          )}
        </>
      }
    >
      {a && b ? (
        <Comparison a={a} b={b} />
      ) : (
        <EmptyState title={one ? "Choose the other evaluation." : "Choose two evaluations of the same rows."}>
          <p>The first is the one before; the second is compared with it, row by row.</p>
        </EmptyState>
      )}
    </Page>
  );
}

function Comparison({ a, b }: { a: string; b: string }) {
  const found = useQuery(comparisonQuery(a, b));
  const data = found.data;
  const gone = [useQuery(evaluationQuery(a)), useQuery(evaluationQuery(b))].find(isGone);
  if (gone) {
    return (
      <Gone what="evaluation" name={gone.data?.name ?? ""}>
        <Link to="/evaluations">Choose another evaluation</Link>
      </Gone>
    );
  }
  if (failure(found)) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (!data) return <Loading what="the comparison" />;
  return (
    <>
      <VerdictHead verdict={data.verdict} sentence={data.sentence} notes={data.notes}>
        <dl className="facts">
          <Who title="Before" one={data.a} />
          <Who title="Now" one={data.b} />
        </dl>
      </VerdictHead>
      <ComparedRows a={a} b={b} counts={data} />
      <Sections sections={data.sections} />
      <p className="quiet">
        In a terminal: <Command text={`greenroom compare ${data.a.name} ${data.b.name}`} />
      </p>
    </>
  );
}

function Who({ title, one }: { title: string; one: EvaluationItem }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <Link to="/evaluations/$name" params={{ name: one.key }}>
          {one.name}
        </Link>{" "}
        <span className="quiet">
          {workflowWords(one.workflow)} on {one.test_set}@{one.version}, {dateWords(one.created_at)}
        </span>
      </dd>
    </div>
  );
}
