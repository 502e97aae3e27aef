/** Lines for a shell and for Python, to paste elsewhere. */
import { API } from "./api/client";

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as a literal of Python: the escapes of JSON are escapes of Python too. */
export function pythonText(text: string): string {
  return JSON.stringify(text);
}

/** A line that asks the API. The token is the one that the playground was started with. */
export function apiCurl(origin: string, parts: readonly (string | number)[]): string {
  const path = parts.map((part) => encodeURIComponent(part)).join("/");
  return `curl -s ${quoted(`${origin}${API}/${path}`)} \\\n  -H "Authorization: Bearer $GREENROOM_TOKEN"`;
}
