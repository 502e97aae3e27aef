/** Numbers in words: shares and scores as reports write them, times and money. */

/**
 * A number with so many digits. A tie goes to the even digit, as in reports: a page and its report show one figure.
 */
export function fixed(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  const exact = value.toFixed(digits + 30);
  const tie = /^50*$/.test(exact.slice(-30));
  // Away from zero is how toFixed rounds a tie.
  const odd = "13579".includes(rounded.slice(-1));
  return tie && odd ? exact.slice(0, digits ? -30 : -31) : rounded;
}

/** A time; what takes none was not measured. */
export function secondsWords(seconds: number): string {
  if (seconds <= 0) return "–";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** An amount of money; null is one that nobody knows. */
export function costWords(cost: number | null): string {
  if (cost === null) return "–";
  return cost === 0 ? "$0" : cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(cost < 1 ? 3 : 2)}`;
}
