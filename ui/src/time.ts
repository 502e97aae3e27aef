/** Times for people. */

/** A time with its date, the same on all pages. */
export function dateWords(moment: string): string {
  const date = new Date(moment);
  return Number.isNaN(date.getTime())
    ? moment
    : date.toLocaleString("en-GB", {
        day: "numeric",
        month: "short",
        year: "numeric",
        hour: "2-digit",
        minute: "2-digit",
      });
}
