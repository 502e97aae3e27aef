/** The API of the playground, typed by its OpenAPI document. */
import createClient from "openapi-fetch";
import type { paths } from "./schema";

export const API = "/api/v1";

export const api = createClient<paths>({ baseUrl: "/", credentials: "same-origin" });

/** What went wrong with a request, in words for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

const MOST_OUTLIVING = 20_000;

/** Options of a request that is sent even if the page is left at once. Browsers allow that for small ones alone. */
export function outliving(body: object): { keepalive: boolean } {
  return { keepalive: JSON.stringify(body).length < MOST_OUTLIVING };
}

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The data of an answer; an answer that is an error is thrown: `await got(api.GET(...))`. */
export async function got<Data>(request: Promise<Answer<Data>>): Promise<Data> {
  let answer: Answer<Data>;
  try {
    answer = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, OFFLINE);
  }
  if (!answer.response.ok) throw new ApiError(answer.response.status, detailOf(answer.error, answer.response.status));
  // An answer without a body (204) has no data, and its type says so.
  return answer.data as Data;
}

export const OFFLINE =
  "The playground's server does not answer. Start it again with `greenroom playground`; nothing that was shown is lost.";

const STATUS_WORDS: Record<number, string> = {
  401: "This browser is not signed in. Open the link that `greenroom playground` shows in its terminal.",
  403: "This browser may not do that. Open the link that `greenroom playground` shows in its terminal.",
  404: "There is nothing at this address.",
  409: "Somebody else changed this in the meantime. What they did is shown now; try again.",
};

/** The text of an error's body. */
export function detailOf(body: unknown, status: number): string {
  if (typeof body === "object" && body !== null && "detail" in body && typeof body.detail === "string" && body.detail) {
    return body.detail;
  }
  return STATUS_WORDS[status] ?? `The server answered with status ${status}. Its terminal shows why.`;
}

/**
 * What is shown in the place of an answer: the error of a request that has no answer yet, or whose subject is gone. A
 * server that is away for a while takes nothing from the page, least of all what is typed in it.
 */
export function failure(query: { error: Error | null; data: unknown }): Error | null {
  return query.data === undefined || isGone(query) ? query.error : null;
}

/** How often a page asks whether what it shows is still there, where no event tells. */
export const STILL_THERE = 10_000;

/** Whether something that was shown is not there any more. */
export function isGone(query: { error: Error | null; data: unknown }): boolean {
  return query.data !== undefined && query.error instanceof ApiError && query.error.status === 404;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `fetch` for streams and files, with errors in words. */
export async function fetchOrExplain(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, OFFLINE);
  }
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  throw new ApiError(response.status, detailOf(body, response.status));
}
