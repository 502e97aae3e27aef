import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Dialog } from "../components/Dialog";
import { ErrorNote } from "../components/ErrorNote";
import { type Format, importFile, type Saved } from "./data";

interface ImportDialogProps {
  open: boolean;
  onClose: () => void;
  onImported: (saved: Saved) => void;
}

const LARGEST = 64 * 1024 * 1024;

/** Makes the rows of a file a test set. */
export function ImportDialog({ open, onClose, onImported }: ImportDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const [format, setFormat] = useState<Format | "">("");
  const queries = useQueryClient();
  const ids = { file: useId(), name: useId(), format: useId() };
  const load = useMutation({
    mutationFn: (chosen: File) => {
      if (chosen.size > LARGEST) {
        throw new Error("The file is larger than 64 MB. Import it by `greenroom testset import FILE`.");
      }
      return importFile(chosen, name, format);
    },
    onSuccess: (saved) => {
      queries.invalidateQueries({ queryKey: ["test-sets"] });
      queries.setQueryData(["test-set", saved.test_set.name, "latest"], saved.test_set);
      onImported(saved);
    },
  });
  return (
    <Dialog title="Import a test set" open={open} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (file) load.mutate(file);
        }}
      >
        <div className="field">
          <label htmlFor={ids.file}>File</label>
          <input
            id={ids.file}
            type="file"
            accept=".csv,.json,.jsonl,.ndjson"
            onChange={(event) => {
              setFile(event.target.files?.[0] ?? null);
              load.reset();
            }}
          />
          <span className="hint">
            CSV, JSON or JSON Lines in UTF-8. A test set of the same name gets a new version; nothing is lost.
          </span>
        </div>
        <div className="field">
          <label htmlFor={ids.name}>Name</label>
          <input
            id={ids.name}
            value={name}
            placeholder={file ? file.name.replace(/\.[^.]*$/, "") : "that of the file"}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={ids.format}>Format</label>
          <select
            id={ids.format}
            value={format}
            onChange={(event) => setFormat(FORMATS.find((one) => one === event.target.value) ?? "")}
          >
            <option value="">by the file's name</option>
            <option value="csv">CSV</option>
            <option value="json">JSON</option>
            <option value="jsonl">JSON Lines</option>
          </select>
        </div>
        {load.error && <ErrorNote error={load.error} />}
        <div className="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="main" disabled={!file || load.isPending}>
            Import
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const FORMATS = ["csv", "json", "jsonl"] as const;
