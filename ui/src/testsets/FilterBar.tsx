import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
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
const PAUSE = 250;

/** Which rows are shown; it is kept in the address. */
export function FilterBar({ columns, filter, found, more, searching, total }: FilterBarProps) {
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(filter.q ?? "");
  useEffect(() => setTyped(filter.q ?? ""), [filter.q]);
  useEffect(() => {
    if (typed === (filter.q ?? "")) return;
    const timer = setTimeout(() => {
      navigate({ search: ({ q: _, ...old }) => (typed ? { ...old, q: typed } : old), replace: true });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed, filter.q, navigate]);
  const words = searching ? "Searching …" : `${counted(found ?? 0, "row")}${more ? " so far" : ""} of ${total}`;
  return (
    <search className="tools">
      <input
        type="search"
        aria-label="Search in the rows"
        placeholder="Search in the rows"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
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
