/** Codes of errors that a connection ends with besides those of sockets. */
export const FAULT = {
  /** What came is not HTTP. */
  badHttp: "HTTP_BAD",
  /** The head of an answer is too long. */
  headerLimit: "HTTP_HEADER_LIMIT",
  /** The connection ended before the answer did. */
  cut: "HTTP_CUT",
  /** A header cannot be sent. */
  badRequest: "HTTP_BAD_REQUEST",
  /** Nothing is sent any more. */
  closed: "HTTP_CLOSED",
  aborted: "HTTP_ABORTED",
  connectTimeout: "HTTP_CONNECT_TIMEOUT",
} as const;

/** An error with a code, which `networkFailure` explains. */
export function httpFault(
  message: string,
  code: (typeof FAULT)[keyof typeof FAULT] = FAULT.badHttp,
): Error {
  return Object.assign(new Error(message), { code });
}
