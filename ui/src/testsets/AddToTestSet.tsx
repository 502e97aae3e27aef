import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api, got } from "../api/client";
import { Dialog } from "../components/Dialog";
import { ErrorNote } from "../components/ErrorNote";
import { store, stored } from "../storage";
import { CellView } from "./CellView";
import type { RowSource } from "./data";
import "./testsets.css";

export type { RowSource } from "./data";

interface AddToTestSetProps {
  /** Where the row comes from: a turn, an episode, a row of an evaluation, or values. */
  source: RowSource;
  label?: string;
}

/** A button that opens the dialog "Add to test set". */
export function AddToTestSet({ source, label = "Add to test set" }: AddToTestSetProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="small plain" onClick={() => setOpen(true)}>
        {label}
      </button>
      {open && <AddDialog source={source} onClose={() => setOpen(false)} />}
    </>
  );
}

const LAST = "testset.last";

/** Picks or names a test set, shows the row that will be added, adds it, and leads there. */
export function AddDialog({ source, onClose }: { source: RowSource; onClose: () => void }) {
  const [name, setName] = useState(() => stored(LAST) ?? "");
  const [asked, setAsked] = useState(name);
  const ids = { name: useId(), known: useId() };
  const queries = useQueryClient();
  const known = useInfiniteQuery({
    queryKey: ["test-sets", asked],
    queryFn: () => got(api.GET("/api/v1/test-sets", { params: { query: { q: asked, limit: 20 } } })),
    initialPageParam: null,
    getNextPageParam: () => null,
  });
  const preview = useQuery({
    queryKey: ["test-set-preview", asked, source],
    queryFn: () => got(api.POST("/api/v1/test-sets/preview", { body: { test_set: asked, source } })),
    enabled: asked !== "",
    retry: false,
    staleTime: 0,
  });
  const add = useMutation({
    mutationFn: () =>
      got(api.POST("/api/v1/test-sets/{name}/rows", { params: { path: { name: asked } }, body: { source, note: "" } })),
    onSuccess: () => {
      store(LAST, asked);
      queries.invalidateQueries({ queryKey: ["test-sets"] });
      queries.invalidateQueries({ queryKey: ["test-set", asked] });
    },
  });
  const row = preview.data?.row;
  const added = add.data;
  return (
    <Dialog title="Add to test set" open onClose={onClose} wide>
      {added ? (
        <div role="status">
          <p>
            Added as{" "}
            <Link
              to="/test-sets/$name"
              params={{ name: added.test_set.name }}
              search={{ row: added.position + 1 }}
              onClick={onClose}
            >
              row {added.position + 1} of {added.test_set.name}
            </Link>
            , version {added.test_set.version}.
          </p>
          <div className="dialog-buttons">
            {/* biome-ignore lint/a11y/noAutofocus: What was done is done. */}
            <button type="button" autoFocus className="main" onClick={onClose}>
              Close
            </button>
          </div>
        </div>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (asked !== name.trim()) setAsked(name.trim());
            else if (row) add.mutate();
          }}
        >
          <div className="field">
            <label htmlFor={ids.name}>Test set</label>
            <input
              id={ids.name}
              autoFocus
              list={ids.known}
              value={name}
              maxLength={200}
              placeholder="A name; a new one makes a new test set"
              onChange={(event) => {
                setName(event.target.value);
                setAsked(event.target.value.trim());
              }}
            />
            <datalist id={ids.known}>
              {known.data?.pages[0]?.items.map((set) => (
                <option key={set.id} value={set.name} />
              ))}
            </datalist>
            <span className="hint">
              {!asked
                ? "Choose one that there is, or type a new name."
                : preview.data && (preview.data.exists ? "Becomes its last row." : "Makes a new test set.")}
            </span>
          </div>
          {preview.error && <ErrorNote error={preview.error} />}
          {row && (
            <table className="preview-row">
              <caption className="quiet">The row that will be added</caption>
              <tbody>
                {Object.entries(row.cells).map(([column, cell]) => (
                  <tr key={column}>
                    <th scope="row">
                      {column}
                      {column === preview.data?.expected && <span className="quiet"> (expected)</span>}
                    </th>
                    <td>
                      <CellView cell={cell} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {add.error && <ErrorNote error={add.error} />}
          <div className="dialog-buttons">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" className="main" disabled={!row || preview.isError || add.isPending}>
              Add the row
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
