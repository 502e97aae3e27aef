import type { FieldChange, RecordChange } from "./api";

interface RecordChangesProps {
  records: readonly RecordChange[];
  /** The headings of the two sides. */
  before?: string;
  after?: string;
}

const SIGNS = { changed: "±", added: "+", deleted: "−" } as const;

/** Records that changed, field by field. */
export function RecordChanges({ records, before = "Before", after = "After" }: RecordChangesProps) {
  return (
    <ul className="records">
      {records.map((one) => (
        <li key={`${one.table} ${one.record}`}>
          <details open={records.length <= 3}>
            <summary>
              <span aria-hidden="true">{SIGNS[one.kind]}</span> <code>{one.table}</code> <b>{one.record}</b>{" "}
              <span className="quiet">
                {one.kind === "changed"
                  ? `${one.fields.length} ${one.fields.length === 1 ? "field" : "fields"}`
                  : one.kind}
              </span>
            </summary>
            <table>
              <thead>
                <tr>
                  <th scope="col">Field</th>
                  <th scope="col">{before}</th>
                  <th scope="col">{after}</th>
                </tr>
              </thead>
              <tbody>
                {one.fields.map((field) => (
                  <tr key={field.path}>
                    <th scope="row">{field.path || "the record"}</th>
                    <td>
                      <Value value={field.before} absent={field.absent === "before"} />
                    </td>
                    <td>
                      <Value value={field.after} absent={field.absent === "after"} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        </li>
      ))}
    </ul>
  );
}

function Value({ value, absent }: { value: FieldChange["before"]; absent: boolean }) {
  if (absent) return <span className="quiet">none</span>;
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>;
}
