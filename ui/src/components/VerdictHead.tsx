import type { ReactNode } from "react";
import { Power } from "./Power";
import { Warnings } from "./Warnings";

const VERDICTS = {
  better: ["good", "better"],
  worse: ["bad", "worse"],
  equivalent: ["", "equal within the margin"],
  no_difference_shown: ["", "no difference shown"],
} as const;

interface VerdictHeadProps {
  verdict: keyof typeof VERDICTS;
  sentence: string;
  notes: readonly string[];
  children: ReactNode;
}

/** What a comparison comes to: the verdict, the sentence, and what has to be known to read it rightly. */
export function VerdictHead({ verdict, sentence, notes, children }: VerdictHeadProps) {
  const [tone, word] = VERDICTS[verdict];
  return (
    <div className="run-head">
      <p>
        <span className={`badge ${tone}`} data-testid="verdict">
          {word}
        </span>
      </p>
      <p className="headline long">
        <Power text={sentence} />
      </p>
      <Warnings notes={notes} />
      {children}
    </div>
  );
}
