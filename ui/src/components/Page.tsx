import { type ReactNode, useEffect } from "react";

interface PageProps {
  title: string;
  /** Stands before the title: where this page belongs. */
  above?: ReactNode;
  /** Shown in place of the title, such as a field to change it. */
  heading?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  /** A column for reading, not the whole width. */
  narrow?: boolean;
  /** Fills the window: the parts within scroll by themselves. */
  fill?: boolean;
  children: ReactNode;
}

/** A page: its title, in the window too, and what belongs to it. */
export function Page({ title, above, heading, actions, narrow, fill, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Greenroom`;
  }, [title]);
  return (
    <div className={`page${narrow ? " narrow" : ""}${fill ? " fill" : ""}`}>
      <header className="page-head">
        <div className="page-title">
          {above && <div className="above">{above}</div>}
          <h1>{heading ?? title}</h1>
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
