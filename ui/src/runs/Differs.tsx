import type { ReactNode } from "react";

export interface Difference {
  name: string;
  left: ReactNode;
  right: ReactNode;
}

interface DiffersProps {
  rows: readonly Difference[];
  /** The names of the columns, where they are not plain from what stands around. */
  head?: readonly [name: string, left: string, right: string];
  className?: string;
}

/** Values that differ, name by name. */
export function Differs({ rows, head, className = "" }: DiffersProps) {
  return (
    <table className={`differs ${className}`.trim()}>
      {head && (
        <thead>
          <tr>
            {head.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((one) => (
          <tr key={one.name}>
            <th scope="row">{one.name}</th>
            <td>{one.left}</td>
            <td>{one.right}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
