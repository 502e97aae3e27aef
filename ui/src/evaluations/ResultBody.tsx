import type { ReactNode } from "react";
import { JsonView } from "../components/JsonView";
import { Message } from "../components/Message";
import { Output } from "../components/Output";
import { Transcript } from "../components/Transcript";
import { shownMessages } from "../messages";
import { costWords, fixed, secondsWords } from "../numbers";
import type { Result, ShownScore } from "./queries";

/** A conversation with more messages than this scrolls by itself. */
const MOST_MESSAGES = 40;

/** Everything that is known of a result: what failed comes first. */
export function ResultBody({ result }: { result: Result }) {
  return (
    <div className="result-body">
      {result.error && (
        <div className="error-note">
          <p>{result.error}</p>
        </div>
      )}
      <section>
        <h3>Scores</h3>
        {result.scores.length ? (
          result.scores.map((score) => <ScoreRow key={score.alias} score={score} />)
        ) : (
          <p className="quiet">No evaluator looked at it.</p>
        )}
      </section>
      {result.messages ? <Conversation result={result} /> : <InAndOut result={result} />}
      <section>
        <details>
          <summary>Raw output</summary>
          <JsonView value={result.outputs} />
        </details>
        <details>
          <summary>The whole row</summary>
          <JsonView value={result.row} />
        </details>
        {result.tool_calls.length > 0 && (
          <details>
            <summary>Calls that the workflow told ({result.tool_calls.length})</summary>
            <JsonView value={result.tool_calls} />
          </details>
        )}
      </section>
      <dl className="facts">
        <Fact name="Time">{secondsWords(result.seconds)}</Fact>
        <Fact name="Cost">{costWords(result.cost)}</Fact>
        {result.prompt_tokens + result.completion_tokens > 0 && (
          <Fact name="Tokens">
            {result.prompt_tokens.toLocaleString("en")} in, {result.completion_tokens.toLocaleString("en")} out
          </Fact>
        )}
        {result.attempts > 1 && <Fact name="Attempts">{result.attempts}</Fact>}
        {result.trace_id && <Fact name="Trace">{result.trace_id}</Fact>}
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ScoreRow({ score }: { score: ShownScore }) {
  const sign = score.passed === null ? "·" : score.passed ? "✓" : "×";
  const verdict = score.passed === null ? "no verdict" : score.passed ? "passed" : "not passed";
  const points = score.score === null ? (score.broken ? "the evaluator broke" : "no score") : fixed(score.score, 3);
  const compares = present(score.compared) || present(score.against);
  return (
    <div className="score-row">
      <p>
        <span className={`sign ${score.passed === null ? "" : score.passed ? "yes" : "no"}`} aria-hidden="true">
          {sign}
        </span>{" "}
        <b>{score.alias}</b> {points} <span className="quiet">{verdict}</span>
        {score.reason && <span className="score-reason">{score.reason}</span>}
      </p>
      {compares && (
        <div className="compared">
          <div>
            <h4>Compared</h4>
            <Value value={score.compared} />
          </div>
          <div>
            <h4>With</h4>
            <Value value={score.against} />
          </div>
        </div>
      )}
    </div>
  );
}

const present = (value: unknown) => value !== null && value !== undefined;

function Value({ value }: { value: unknown }) {
  if (!present(value)) return <p className="quiet">nothing</p>;
  return <Output value={value} />;
}

function Conversation({ result }: { result: Result }) {
  const messages = result.messages ?? [];
  const rest = Object.entries(result.inputs).filter(([, value]) => !isChat(value) && value !== messages[0]?.content);
  return (
    <section>
      <h3>Conversation</h3>
      {rest.length > 0 && <JsonView value={Object.fromEntries(rest)} depth={1} />}
      {messages.length > MOST_MESSAGES ? (
        <div className="long-conversation">
          <Transcript messages={messages} />
        </div>
      ) : (
        <div className="messages">
          {shownMessages(messages).map(({ index, message, calls }) => (
            <Message key={index} message={message} calls={calls} />
          ))}
        </div>
      )}
      {present(result.expected) && (
        <>
          <h3>Expected</h3>
          <Value value={result.expected} />
        </>
      )}
    </section>
  );
}

function isChat(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null && "role" in one);
}

function InAndOut({ result }: { result: Result }) {
  return (
    <section>
      <h3>Input</h3>
      <JsonView value={result.inputs} />
      <div className="compared">
        <div>
          <h3>Output</h3>
          {result.error ? <p className="quiet">There is none.</p> : <Value value={result.outputs} />}
        </div>
        <div>
          <h3>Expected</h3>
          <Value value={result.expected} />
        </div>
      </div>
    </section>
  );
}
