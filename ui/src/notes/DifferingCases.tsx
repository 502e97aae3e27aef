import { useInfiniteQuery } from "@tanstack/react-query";
import { api, failure, got } from "../api/client";
import type { components } from "../api/schema";
import { AddressLink } from "../components/AddressLink";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { VerdictBadge } from "./NoteCard";
import { type NoteSubject, subjectAddress } from "./subjects";

type Case = components["schemas"]["DifferingCase"];
type Statement = components["schemas"]["Statement"];

/** What raters are compared by. */
export interface Question {
  about: "verdict" | "tag";
  value: string | null;
  with_judges: boolean;
}

/** The run or the evaluation that raters marked. */
export type About = { run: string } | { evaluation: string };

/** The episodes or rows about which raters differ, each with who says what. */
export function DifferingCases({ about, question }: { about: About; question: Question }) {
  const found = useInfiniteQuery({
    queryKey: ["notes", "cases", about, question],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET("/api/v1/agreement/cases", {
          params: { query: { ...about, ...question, limit: 20, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
  const cases = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (failure(found)) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (found.isPending) return <Loading what="cases" />;
  if (!cases.length) {
    return (
      <EmptyState title="They differ nowhere.">
        <p>Everything that two or more have marked, they marked alike.</p>
      </EmptyState>
    );
  }
  return (
    <>
      {cases.map((one) => (
        <CaseCard key={`${one.item} ${one.trial}`} one={one} about={about} />
      ))}
      {found.hasNextPage && (
        <button
          type="button"
          className="notes-more"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          Show more
        </button>
      )}
    </>
  );
}

function CaseCard({ one, about }: { one: Case; about: About }) {
  const subject: NoteSubject =
    "run" in about
      ? { run: about.run, task: one.item, trial: one.trial }
      : { evaluation: about.evaluation, item: one.item, trial: one.trial };
  const words =
    "run" in about ? `Task ${one.item}, trial ${one.trial}` : `Row ${one.item + 1}, repeat ${one.trial + 1}`;
  return (
    <section className="case">
      <h3>
        <AddressLink to={subjectAddress(subject) ?? ""}>{words}</AddressLink>
      </h3>
      <dl>
        {one.statements.map((said) => (
          <Says key={`${said.kind} ${said.rater}`} said={said} />
        ))}
      </dl>
    </section>
  );
}

function Says({ said }: { said: Statement }) {
  return (
    <>
      <dt>
        <bdi>{said.rater}</bdi>
        {said.kind === "judge" && <span className="quiet"> judge</span>}
      </dt>
      <dd>
        {said.verdict && <VerdictBadge verdict={said.verdict} />}{" "}
        {said.tags.map((tag) => (
          <bdi key={tag} className="badge tag">
            {tag}
          </bdi>
        ))}
        {said.text && <bdi className="note-text">{said.text}</bdi>}
      </dd>
    </>
  );
}
