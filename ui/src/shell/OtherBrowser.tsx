import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, got } from "../api/client";
import { CopyButton } from "../components/CopyButton";
import { Dialog } from "../components/Dialog";
import { ErrorNote } from "../components/ErrorNote";
import { Loading } from "../components/Loading";

/** Makes a one-time link, which lets another browser in. */
export function OtherBrowser() {
  const [open, setOpen] = useState(false);
  const link = useMutation({ mutationFn: () => got(api.POST("/api/v1/links")) });
  const show = () => {
    setOpen(true);
    link.mutate();
  };
  return (
    <>
      <button
        type="button"
        className="plain"
        aria-label="Open in another browser"
        title="Open in another browser"
        onClick={show}
      >
        <svg width="14" height="14" viewBox="0 0 14 14" fill="none" stroke="currentColor" aria-hidden="true">
          <rect x="1" y="4" width="9" height="9" rx="1" />
          <path d="M5 1h8v8" />
        </svg>
      </button>
      <Dialog title="Open in another browser" open={open} onClose={() => setOpen(false)}>
        <p>This link lets one more browser in, once. Give it only to somebody who may see everything here.</p>
        {link.isPending && <Loading what="a link" />}
        {link.error && <ErrorNote error={link.error} onRetry={() => link.mutate()} />}
        {link.data && (
          <p className="one-time-link">
            <code>{link.data.link}</code>
            <CopyButton forms={[{ name: "Text", text: () => link.data.link }]} />
          </p>
        )}
      </Dialog>
    </>
  );
}
