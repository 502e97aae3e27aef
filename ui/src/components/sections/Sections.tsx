import type { ReactNode } from "react";
import type { components } from "../../api/schema";
import { CopyButton } from "../CopyButton";
import { Chart } from "../charts/Chart";
import { Figure } from "../Figure";
import { Interval } from "../Interval";
import { Power } from "../Power";
import { SimpleTable } from "./SimpleTable";
import "./sections.css";

type Schemas = components["schemas"];
export type Shown =
  | Schemas["ShownFigures"]
  | Schemas["ShownTable"]
  | Schemas["ShownChart"]
  | Schemas["ShownFailures"]
  | Schemas["ShownFacts"]
  | Schemas["ShownText"];
export type KindCount = Schemas["KindCount"];

interface SectionsProps {
  sections: readonly Shown[];
  /** What a kind of failure leads to. */
  kindLink?: (kind: KindCount) => ReactNode;
}

/** Sections of a report, in its look: two charts or short tables stand side by side. */
export function Sections({ sections, kindLink }: SectionsProps) {
  return (
    <div className="sections">
      {sections.map((section) => (
        <section key={section.id} className={isHalf(section) ? "half" : ""} aria-labelledby={`section-${section.id}`}>
          <h2 id={`section-${section.id}`}>
            <Power text={section.title} />
          </h2>
          <Content section={section} kindLink={kindLink} />
          <Notes notes={section.notes} />
        </section>
      ))}
    </div>
  );
}

const NARROW_COLUMNS = 5;

function isHalf(section: Shown): boolean {
  return section.type === "chart" || (section.type === "table" && section.columns.length <= NARROW_COLUMNS);
}

function Content({ section, kindLink }: { section: Shown; kindLink: SectionsProps["kindLink"] }) {
  switch (section.type) {
    case "figures":
      return <Figures section={section} />;
    case "table":
      return <SimpleTable label={section.title} columns={section.columns} rows={section.rows} />;
    case "chart":
      return <Chart chart={section} />;
    case "failures":
      return <Kinds section={section} kindLink={kindLink} />;
    case "facts":
      return <FactList facts={section.facts} />;
    case "text":
      return <TextSection section={section} />;
    default:
      return null;
  }
}

function Notes({ notes }: { notes: readonly string[] }) {
  if (!notes.length) return null;
  return (
    <ul className="section-notes">
      {notes.map((note) => (
        <li key={note} className={note.startsWith("- ") ? "entry" : ""}>
          <Power text={note.replace(/^- /, "")} />
        </li>
      ))}
    </ul>
  );
}

export function FactList({ facts }: { facts: readonly Schemas["Fact"][] }) {
  return (
    <dl className="facts">
      {facts.map((fact) => (
        <div key={`${fact.label} ${fact.value}`}>
          <dt>{fact.label}</dt>
          <dd>{fact.value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Figures({ section }: { section: Schemas["ShownFigures"] }) {
  if (!section.figures.length) return <p className="quiet">There are no figures yet.</p>;
  const groups = [section.figures.filter((one) => one.prominent), section.figures.filter((one) => !one.prominent)];
  return groups.map((figures, place) =>
    figures.length ? (
      <div key={place === 0 ? "large" : "small"} className={place === 0 ? "figures prominent" : "figures"}>
        {figures.map((one) => (
          <OneFigure key={one.key} one={one} section={section} large={place === 0} />
        ))}
      </div>
    ) : null,
  );
}

interface OneFigureProps {
  one: Schemas["ShownFigure"];
  section: Schemas["ShownFigures"];
  large: boolean;
}

function OneFigure({ one, section, large }: OneFigureProps) {
  const basis = typeof one.n === "number" ? one.n.toLocaleString("en") : "";
  const said = !basis || one.meaning.includes(basis);
  const share =
    typeof one.number === "number" &&
    typeof one.low === "number" &&
    typeof one.high === "number" &&
    one.low >= 0 &&
    one.high <= 1
      ? { value: one.number, low: one.low, high: one.high }
      : null;
  return (
    <Figure name={<Power text={one.label} />} value={one.value} large={large}>
      {large && share ? (
        <Interval {...share} text={one.interval} />
      ) : (
        one.interval && <p className="interval">{one.interval}</p>
      )}
      <p className={one.partial && said ? "partial" : "meaning"}>
        <Power text={said ? one.meaning : `${one.meaning}; ${basis} ${section.units}`} />
      </p>
      {one.partial && !said && <p className="partial">from a part of the {section.units} only</p>}
      {one.second && (
        <p className="meaning">
          {one.second} with {section.second}
        </p>
      )}
    </Figure>
  );
}

function Kinds({ section, kindLink }: { section: Schemas["ShownFailures"]; kindLink: SectionsProps["kindLink"] }) {
  if (!section.total) return <p className="quiet">Nothing failed.</p>;
  return (
    <ul className="kinds">
      {section.kinds.map((one) => (
        <li key={one.kind}>
          <span className="kind-words">
            {kindLink ? kindLink(one) : <b>{one.label}</b>} <span className="quiet">{one.meaning}</span>
          </span>
          <meter className="kind-bar" min={0} max={section.total} value={one.count} aria-hidden="true" />
          <span className="kind-count">{one.count.toLocaleString("en")}</span>
        </li>
      ))}
    </ul>
  );
}

function TextSection({ section }: { section: Schemas["ShownText"] }) {
  return (
    <details>
      <summary>Show</summary>
      <CopyButton forms={[{ name: "Text", text: () => section.text }]} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard. */}
      <pre className="section-text" tabIndex={0}>
        {section.text}
      </pre>
    </details>
  );
}
