import { useId } from "react";
import type { components } from "../../api/schema";
import { Power } from "../Power";
import { SimpleTable } from "../sections/SimpleTable";
import "./charts.css";

type ShownChart = components["schemas"]["ShownChart"];
type Plot = ShownChart["plot"];
type Mark = Plot["series"][number]["marks"][number];

/** A chart in the report's look. The API says where its marks stand; the same values stand in a table. */
export function Chart({ chart }: { chart: ShownChart }) {
  const { plot } = chart;
  const name = useId();
  return (
    <figure>
      <svg
        className={`chart ${chart.style}`}
        viewBox={`0 0 ${plot.width} ${plot.height}`}
        role="img"
        aria-labelledby={`${name}-name ${name}-said`}
      >
        <title id={`${name}-name`}>{`${chart.title}: ${chart.y} by ${chart.x}`}</title>
        <desc id={`${name}-said`}>{plot.said}</desc>
        <Axes plot={plot} x={chart.x} />
        {plot.series.map((series) => (
          <g key={series.name} className={`series colour-${series.colour}`}>
            {series.path && (
              <>
                <path className="area" d={series.area} />
                <path className="line" d={series.path} />
              </>
            )}
            {series.marks.map((mark) => (
              <MarkOf key={`${mark.x} ${mark.y} ${mark.said}`} mark={mark} style={chart.style} plot={plot} />
            ))}
          </g>
        ))}
      </svg>
      {plot.series.length > 1 && (
        <ul className="legend">
          {plot.series.map((series) => (
            <li key={series.name}>
              <span className={`key colour-${series.colour}`} />
              <Power text={series.name} />
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>Values</summary>
        <SimpleTable label={chart.title} columns={chart.columns} rows={chart.rows} />
      </details>
    </figure>
  );
}

function Axes({ plot, x }: { plot: Plot; x: string }) {
  return (
    <g className="axis">
      {plot.y_ticks.map(({ at: y, text }) => (
        <g key={y}>
          <line x1={plot.left} x2={plot.right} y1={y} y2={y} />
          <text x={plot.left - 8} y={y + 4} textAnchor="end">
            {text}
          </text>
        </g>
      ))}
      {plot.x_ticks.map(({ at, text }) => (
        <text key={at} x={at} y={plot.bottom + 16} textAnchor="middle">
          <Raised text={shortened(text)} />
        </text>
      ))}
      <text className="axis-title" x={(plot.left + plot.right) / 2} y={plot.height - 5} textAnchor="middle">
        {x.toLowerCase()}
      </text>
    </g>
  );
}

const LONGEST = 14;

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function Raised({ text }: { text: string }) {
  const [base, power, ...more] = text.split("^");
  if (!power || more.length) return text;
  return (
    <>
      {base}
      <tspan dy="-5" dx="1" className="power">
        {power}
      </tspan>
    </>
  );
}

function MarkOf({ mark, style, plot }: { mark: Mark; style: ShownChart["style"]; plot: Plot }) {
  const whisker =
    typeof mark.low === "number" && typeof mark.high === "number" ? (
      <path
        className="whisker"
        d={`M${mark.x} ${mark.high}V${mark.low}M${mark.x - 4} ${mark.high}h8M${mark.x - 4} ${mark.low}h8`}
      />
    ) : null;
  const top = (mark.high ?? mark.y) - (style === "scatter" ? 9 : 6);
  return (
    <>
      {style === "bars" ? (
        <>
          <rect
            className="bar-mark"
            x={mark.x - plot.bar / 2}
            y={Math.min(mark.y, plot.floor)}
            width={plot.bar}
            height={Math.abs(plot.floor - mark.y)}
          >
            <title>{mark.said}</title>
          </rect>
          {whisker}
        </>
      ) : (
        <>
          {whisker}
          <circle className={style === "scatter" ? "dot" : "hit"} cx={mark.x} cy={mark.y} r="5">
            <title>{mark.said}</title>
          </circle>
        </>
      )}
      {mark.label && (
        <text className="value" x={mark.x} y={Math.max(11, top)} textAnchor="middle">
          {mark.label}
        </text>
      )}
    </>
  );
}
