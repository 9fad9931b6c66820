import type { ServerResponse } from "node:http";

/** What went wrong with a request, as RFC 9457 has it. Never holds the text of an exception. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  /** What to do about it. */
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the document. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A problem document. */
export function problemText({ status, title, detail, members }: Problem): string {
  return `${JSON.stringify({ type: "about:blank", title, status, detail, ...members })}\n`;
}

/** Answers with a problem document; does nothing but end a response that has begun already. */
export function sendProblem(response: ServerResponse, problem: Problem, isHead: boolean): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers = {} } = problem;
  const body = problemText(problem);
  response.writeHead(status, {
    ...headers,
    "Content-Type": "application/problem+json",
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
  });
  response.end(isHead ? undefined : body);
}

export function notFound(detail: string): Problem {
  return { status: 404, title: "Not found", detail };
}

export function badRequest(detail: string): Problem {
  return { status: 400, title: "Bad request", detail };
}

export function methodNotAllowed(allow: string): Problem {
  return {
    status: 405,
    title: "Method not allowed",
    detail: `this resource answers to ${allow}`,
    headers: { Allow: allow },
  };
}

export const INTERNAL_ERROR: Problem = {
  status: 500,
  title: "Internal error",
  detail: "the server failed to answer; its log says why",
};
