import type { ReactNode } from "react";

/** What a list shows that has nothing: what is missing, and what to do about it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children && <div className="empty-do">{children}</div>}
    </div>
  );
}
