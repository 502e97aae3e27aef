import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "../components/CopyButton";
import { Dialog } from "../components/Dialog";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";
import { WholeCell } from "./CellView";
import { rowQuery, type TestSet, type TestSetRow } from "./data";

interface RowDialogProps {
  set: TestSet;
  position: number | null;
  onClose: () => void;
  /** Columns that were changed and not saved. */
  changed: readonly string[];
  onRevert: (column: string) => void;
}

/** A row, whole: every cell from its root. */
export function RowDialog({ set, position, onClose, changed, onRevert }: RowDialogProps) {
  const row = useQuery({ ...rowQuery(set.name, set.version, position ?? 0), enabled: position !== null });
  return (
    <Dialog title={`Row ${(position ?? 0) + 1} of ${set.name}`} open={position !== null} onClose={onClose} wide>
      {row.error && <ErrorNote error={row.error} onRetry={() => row.refetch()} />}
      {row.isPending && <Loading what="the row" />}
      {row.data && (
        <>
          <div className="tools">
            <CopyButton forms={[{ name: "JSON", text: () => jsonOf(row.data) }]} label="Copy as JSON" />
          </div>
          <dl className="whole-row">
            {Object.entries(row.data.cells).map(([column, cell]) => (
              <div key={column}>
                <dt>
                  {column} <span className="badge">{cell.kind}</span>
                  {changed.includes(column) && (
                    <button type="button" className="small" onClick={() => onRevert(column)}>
                      Take back the change
                    </button>
                  )}
                </dt>
                <dd>
                  <WholeCell cell={cell} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Dialog>
  );
}

/** The row as JSON; numbers keep their digits. */
export function jsonOf(row: TestSetRow): string {
  const cells = Object.entries(row.cells).map(
    ([column, cell]) => `${JSON.stringify(column)}: ${cell.is_text ? JSON.stringify(cell.text) : cell.text}`,
  );
  return `{${cells.join(", ")}}`;
}
