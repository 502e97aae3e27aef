/** Test sets as the API gives them. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { API, api, fetchOrExplain, got } from "../api/client";
import type { components } from "../api/schema";

type Schemas = components["schemas"];
export type TestSet = Schemas["TestSet"];
export type TestSetRow = Schemas["TestSetRow"];
export type Cell = Schemas["Cell"];
export type CellKind = Cell["kind"];
export type Difference = Schemas["TestSetDifference"];
export type Differences = Schemas["TestSetDifferences"];
export type Saved = Schemas["Saved"];
export type Edit = Schemas["TestSetChange"]["edits"][number];
export type RowSource = Schemas["RowRequest"]["source"];
export type Format = "csv" | "json" | "jsonl";

export const KINDS = ["chat", "message", "text", "number", "boolean", "json", "mixed", "empty"] as const;
export const PAGE_ROWS = 100;

/** Which rows are shown; without anything, all. */
export interface Filter {
  q?: string;
  column?: string;
  kind?: CellKind;
}

export function isFiltered(filter: Filter): boolean {
  return Boolean(filter.q || filter.column || filter.kind);
}

export const testSetQuery = (name: string, version?: number) =>
  queryOptions({
    queryKey: ["test-set", name, version ?? "latest"],
    queryFn: () => got(api.GET("/api/v1/test-sets/{name}", { params: { path: { name }, query: versionOf(version) } })),
    placeholderData: keepPreviousData,
  });

/** A page of all rows; a version never changes, so it is kept. */
export const rowsQuery = (name: string, version: number, page: number) =>
  queryOptions({
    queryKey: ["test-set-rows", name, version, page],
    queryFn: () =>
      got(
        api.GET("/api/v1/test-sets/{name}/rows", {
          params: { path: { name }, query: { version, start: page * PAGE_ROWS, limit: PAGE_ROWS } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

export async function foundRows(name: string, version: number, filter: Filter, after: string | null) {
  const query = { version, limit: PAGE_ROWS, ...filter, ...(after === null ? {} : { after }) };
  return got(api.GET("/api/v1/test-sets/{name}/rows", { params: { path: { name }, query } }));
}

export const rowQuery = (name: string, version: number, position: number) =>
  queryOptions({
    queryKey: ["test-set-row", name, version, position],
    queryFn: () =>
      got(
        api.GET("/api/v1/test-sets/{name}/rows/{position}", {
          params: { path: { name, position }, query: { version } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  });

export async function saveEdits(name: string, base: number, edits: Edit[], note: string): Promise<Saved> {
  const body = { base_version: base, edits, note };
  return got(api.PATCH("/api/v1/test-sets/{name}", { params: { path: { name } }, body }));
}

export async function restoreVersion(name: string, version: number, base: number): Promise<Saved> {
  const body = { version, base_version: base, note: "" };
  return got(api.POST("/api/v1/test-sets/{name}/restore", { params: { path: { name } }, body }));
}

export async function importFile(file: File, name: string, format: Format | ""): Promise<Saved> {
  const query = new URLSearchParams({ file: file.name, name });
  if (format) query.set("format", format);
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetchOrExplain(`${API}/test-sets/import?${query}`, { method: "POST", body: file, headers });
  // The API's own answer to an import.
  return (await answer.json()) as Saved;
}

export function exportAddress(name: string, version: number, format: Format): string {
  return `${API}/test-sets/${encodeURIComponent(name)}/export?format=${format}&version=${version}`;
}

export function versionOf(version: number | undefined): { version?: number } {
  return version === undefined ? {} : { version };
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
