import { useState } from "react";
import { Dialog } from "../../components/Dialog";
import type { RewindPlace } from "./api";
import { RewindPanel, type StepChoice } from "./RewindPanel";

interface RewindButtonProps {
  place: RewindPlace;
  turn: number;
  /** The steps of the turn, which can be gone on from as well. */
  steps: readonly StepChoice[];
}

/** Go on from a turn of a stored episode: by hand, by the agent, or n times. */
export function RewindButton({ place, turn, steps }: RewindButtonProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="plain small rewind-button" onClick={() => setOpen(true)}>
        Go on from turn {turn}
      </button>
      <Dialog title={`Go on from turn ${turn}`} open={open} onClose={() => setOpen(false)} wide>
        <RewindPanel place={place} turn={turn} steps={steps} />
      </Dialog>
    </>
  );
}
