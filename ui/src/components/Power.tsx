import { Fragment } from "react";

const POWER = /(pass)\^(\w+)/gi;

/** Text of a report: pass^k is a power, and a number stays with its per cent. */
export function Power({ text }: { text: string }) {
  const parts = text.replaceAll(" %", "\u00a0%").split(POWER);
  return (
    <>
      {parts.map((part, place) =>
        place % 3 === 2 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: The parts of a text have no other name.
          <sup key={place}>{part}</sup>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: The parts of a text have no other name.
          <Fragment key={place}>{part}</Fragment>
        ),
      )}
    </>
  );
}
