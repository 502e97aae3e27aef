import type { ReactNode } from "react";

interface FigureProps {
  name: ReactNode;
  value: ReactNode;
  large?: boolean;
  /** The interval, and what the figure means. */
  children?: ReactNode;
}

/** A figure with its name. */
export function Figure({ name, value, large, children }: FigureProps) {
  return (
    <div className={large ? "figure large" : "figure"}>
      <h3>{name}</h3>
      <div className="value">{value}</div>
      {children}
    </div>
  );
}
