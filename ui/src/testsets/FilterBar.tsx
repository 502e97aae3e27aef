import { getRouteApi } from "@tanstack/react-router";
import { SearchField } from "../components/SearchField";
import { counted, type Filter, KINDS } from "./data";

interface FilterBarProps {
  columns: readonly string[];
  filter: Filter;
  /** How many rows were found so far; null without a filter. */
  found: number | null;
  more: boolean;
  searching: boolean;
  total: number;
}

const route = getRouteApi("/test-sets/$name");

/** Which rows are shown; it is kept in the address. */
export function FilterBar({ columns, filter, found, more, searching, total }: FilterBarProps) {
  const navigate = route.useNavigate();
  const words = searching ? "Searching …" : `${counted(found ?? 0, "row")}${more ? " so far" : ""} of ${total}`;
  return (
    <search className="tools">
      <SearchField
        value={filter.q ?? ""}
        label="Search in the rows"
        onChange={(words) =>
          navigate({ search: ({ q: _, ...old }) => (words ? { ...old, q: words } : old), replace: true })
        }
      />
      <label>
        in
        <select
          aria-label="Column to search in"
          value={filter.column ?? ""}
          onChange={(event) => {
            const { value } = event.target;
            navigate({ search: ({ column: _, ...old }) => (value ? { ...old, column: value } : old), replace: true });
          }}
        >
          <option value="">all columns</option>
          {columns.map((column) => (
            <option key={column}>{column}</option>
          ))}
        </select>
      </label>
      <label>
        with
        <select
          aria-label="Kind of value"
          value={filter.kind ?? ""}
          onChange={(event) => {
            const kind = KINDS.find((one) => one === event.target.value);
            navigate({ search: ({ kind: _, ...old }) => (kind ? { ...old, kind } : old), replace: true });
          }}
        >
          <option value="">any value</option>
          {KINDS.filter((one) => one !== "mixed").map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {found !== null && <span role="status">{words}</span>}
    </search>
  );
}
