import type { ReactNode } from "react";
import { LongText } from "../components/LongText";
import { FactList } from "../components/sections/Sections";
import { Differs } from "./Differs";
import { Brief } from "./EpisodeItems";
import type { Episode } from "./queries";

/** What stands around the conversation: the task, the database, what was heard, costs, judgements. */
export function EpisodeBefore({ episode }: { episode: Episode }) {
  return (
    <div className="episode-before">
      <div>
        <Part title="The user's task">
          <div className="instruction">
            <LongText text={episode.instruction} plain />
          </div>
        </Part>
        {episode.outputs.length > 0 && (
          <Part title="What the user has to hear">
            <ul>
              {episode.outputs.map((one) => (
                <li key={one.output} className="check">
                  <span className={`sign ${one.heard ? "yes" : "no"}`} aria-hidden="true">
                    {one.heard ? "✓" : "×"}
                  </span>
                  <span>
                    <code>{one.output}</code> <span className="quiet">{one.words}</span>
                  </span>
                </li>
              ))}
            </ul>
          </Part>
        )}
        {episode.flags.length > 0 && (
          <Part title="About the simulated user">
            <ul>
              {episode.flags.map((flag) => (
                <li key={flag} className="flag">
                  {flag}
                </li>
              ))}
            </ul>
          </Part>
        )}
        {episode.judgements.map((one) => (
          <Part key={one.judge} title={`Judged by ${one.judge}`}>
            {one.error ? (
              <p className="flag">{one.error}</p>
            ) : (
              <p>
                {one.author && (
                  <>
                    At fault: <b>{one.author}</b>.{" "}
                  </>
                )}
                {one.author_description} {one.kind && <span className="badge">{one.kind.replaceAll("_", " ")}</span>}{" "}
                {one.kind_description}
              </p>
            )}
          </Part>
        ))}
      </div>
      <div>
        <Part title="Database">
          <Database episode={episode} />
        </Part>
        <Rewards parts={episode.parts} />
      </div>
    </div>
  );
}

const SIGNS = { yes: "✓", no: "×", maybe: "·" };

function Sign({ met }: { met: boolean | null }) {
  const tone = met === null ? "maybe" : met ? "yes" : "no";
  return (
    <span className={`sign ${tone}`} aria-hidden="true">
      {SIGNS[tone]}
    </span>
  );
}

/** What the reward is made of, in tasks where more than the database and the answers count. */
function Rewards({ parts }: { parts: Episode["parts"] }) {
  const usual = parts.every((part) => part.counts && (part.name === "database" || part.name === "outputs"));
  if (usual) return null;
  return (
    <Part title="What counts">
      <ul className="reward-parts">
        {parts.map((part) => (
          <li key={part.name}>
            <p className="check">
              <Sign met={part.met} />
              <span>
                {part.label}{" "}
                <span className="quiet">
                  {part.met === null ? "not judged" : part.met ? "met" : "not met"}
                  {part.counts ? "" : "; does not count here"}
                </span>
              </span>
            </p>
            {part.checks.length > 0 && (
              <ul>
                {part.checks.map((one, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the checks of a task never change their order
                  <li key={place} className="check">
                    <Sign met={one.met} />
                    <span>
                      {one.party ? <code>{one.name}</code> : one.name}{" "}
                      {one.party === "user" && <span className="badge">by the user</span>}{" "}
                      <span className="quiet">{one.words}</span>
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Database({ episode }: { episode: Episode }) {
  if (episode.database_is_right === null) {
    return <p className="quiet">The episode did not come to its end, so the database was not compared.</p>;
  }
  if (episode.database_is_right) {
    return (
      <p className="check">
        <span className="sign yes" aria-hidden="true">
          ✓
        </span>
        <span>as the ground truth leaves it</span>
      </p>
    );
  }
  return (
    <>
      <p className="check">
        <span className="sign no" aria-hidden="true">
          ×
        </span>
        <span>
          not as the ground truth leaves it: {episode.differences.length}{" "}
          {episode.differences.length === 1 ? "record differs" : "records differ"}
        </span>
      </p>
      {episode.differences.map((one) => (
        <details
          key={`${one.table} ${one.record}`}
          className="record-difference"
          open={episode.differences.length <= 4}
        >
          <summary>
            <code>
              {one.table} {one.record}
            </code>
          </summary>
          <Differs
            head={["Field", "Expected", "Found"]}
            rows={one.fields.map((field) => ({
              name: field.path || "(the whole record)",
              left: field.absent === "expected" ? <i className="quiet">not there</i> : <Brief value={field.expected} />,
              right: field.absent === "actual" ? <i className="quiet">not there</i> : <Brief value={field.actual} />,
            }))}
          />
        </details>
      ))}
    </>
  );
}

export function EpisodeAfter({ episode }: { episode: Episode }) {
  return (
    <div className="episode-after">
      {episode.spent.length > 0 && (
        <Part title="Costs">
          <table className="section-table costs">
            <thead>
              <tr>
                <th scope="col">Paid for</th>
                <th scope="col" className="number">
                  Calls
                </th>
                <th scope="col" className="number">
                  Tokens in
                </th>
                <th scope="col" className="number">
                  Tokens out
                </th>
                <th scope="col" className="number">
                  Billed
                </th>
              </tr>
            </thead>
            <tbody>
              {episode.spent.map((one) => (
                <tr key={one.purse}>
                  <th scope="row">{one.purse}</th>
                  <td className="number">{one.calls.toLocaleString("en")}</td>
                  <td className="number">{one.prompt_tokens.toLocaleString("en")}</td>
                  <td className="number">{one.completion_tokens.toLocaleString("en")}</td>
                  <td className="number">{one.cost}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Part>
      )}
      <Part title="Episode">
        <FactList facts={episode.facts} />
      </Part>
      {episode.printed && (
        <Part title="What the agent printed">
          <LongText text={episode.printed} plain />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="episode-part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
