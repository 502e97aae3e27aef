import type { ReactNode } from "react";

interface GoneProps {
  /** Such as "run". */
  what: string;
  name: string;
  /** Where to go from here. */
  children: ReactNode;
}

/** In place of what was deleted, here or in a terminal, while its page was open. */
export function Gone({ what, name, children }: GoneProps) {
  return (
    <div className="error-note" role="alert">
      <p>
        The {what} “{name}” was deleted while this page was open. Nothing of it can be shown any more.
      </p>
      {children}
    </div>
  );
}
