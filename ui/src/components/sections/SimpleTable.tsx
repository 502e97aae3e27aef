import type { components } from "../../api/schema";
import { Power } from "../Power";

type Column = components["schemas"]["ShownColumn"];
type Row = components["schemas"]["ShownRow"];

interface SimpleTableProps {
  label: string;
  columns: readonly Column[];
  rows: readonly Row[];
}

const styleOf = (column: Column | undefined) =>
  [column?.right ? "number" : "", column?.wide ? "wide" : ""].filter(Boolean).join(" ");

/** A short table of texts, as reports have it. */
export function SimpleTable({ label, columns, rows }: SimpleTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A part that scrolls has to be reached by keyboard.
    <section className="scroll" tabIndex={0} aria-label={label}>
      <table className="section-table">
        <thead>
          <tr>
            {columns.map((column, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: Columns may have the same name.
              <th key={place} scope="col" className={styleOf(column)}>
                <Power text={column.label} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: Rows may be the same, and never move.
            <tr key={place} className={row.strong ? "strong" : ""}>
              {row.cells.map((cell, column) =>
                column === 0 ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: Cells stand by their columns.
                  <th key={column} scope="row" className={styleOf(columns[column])}>
                    {row.mark && (
                      <span className={`cell ${row.mark.tone}`} aria-hidden="true">
                        {row.mark.symbol}
                      </span>
                    )}{" "}
                    <Power text={cell} />
                  </th>
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: Cells stand by their columns.
                  <td key={column} className={styleOf(columns[column])}>
                    <Power text={cell} />
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
