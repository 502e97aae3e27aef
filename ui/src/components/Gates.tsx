interface Gate {
  gate: string;
  verdict: string;
  passed: boolean;
  reason: string;
}

/** What had to hold, and whether it does. */
export function Gates({ gates }: { gates: readonly Gate[] }) {
  if (!gates.length) return null;
  return (
    <ul className="gates">
      {gates.map((gate) => (
        <li key={gate.gate}>
          <span className={`badge ${gate.passed ? "good" : "bad"}`}>{gate.verdict}</span> <code>{gate.gate}</code>{" "}
          {gate.reason}
        </li>
      ))}
    </ul>
  );
}
