import type { FailureReason } from "./retry.ts";
import { asError, isMementoMapError, MementoMapError } from "../errors.ts";
import { PROXY_ERROR_CODE, PROXY_REFUSAL_CODE } from "./proxy.ts";

const CUT = "the connection was closed before the response was complete";

/** Reasons and messages by error code. */
const KNOWN: readonly (readonly [reason: FailureReason, text: string, codes: string])[] = [
  ["dns", "no such host", "ENOTFOUND"],
  ["dns", "the host name could not be resolved", "EAI_AGAIN EAI_FAIL"],
  ["dns", "the host has no address", "EAI_NODATA"],
  ["dns", "the host name resolved to an invalid address", "ERR_INVALID_IP_ADDRESS"],
  ["connect", "connection refused", "ECONNREFUSED"],
  ["connect", "the host is unreachable", "EHOSTUNREACH ENETUNREACH"],
  ["connect-timeout", "the connection timed out", "ETIMEDOUT UND_ERR_CONNECT_TIMEOUT"],
  ["reset", CUT, "ECONNRESET EPIPE UND_ERR_INFO UND_ERR_RES_CONTENT_LENGTH_MISMATCH"],
  // The connection ended in the middle of a chunk.
  ["reset", CUT, "HPE_INVALID_EOF_STATE"],
  ["header-limit", "the response headers are too large", "UND_ERR_HEADERS_OVERFLOW"],
  [
    "bad-request",
    "the request has a header that cannot be sent",
    "UND_ERR_INVALID_ARG UND_ERR_NOT_SUPPORTED",
  ],
  ["closed", "the client is closed", "UND_ERR_DESTROYED UND_ERR_CLOSED"],
  ["tls", "the server's certificate has expired", "CERT_HAS_EXPIRED"],
  ["tls", "the server's certificate is not valid yet", "CERT_NOT_YET_VALID"],
  ["tls", "the server's certificate is for another host", "ERR_TLS_CERT_ALTNAME_INVALID"],
  [
    "tls",
    "the server's certificate is not signed by a trusted authority; add one with NODE_EXTRA_CA_CERTS",
    "DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ],
  [
    "local",
    "this machine cannot open more connections; raise the limit on open files",
    "EMFILE ENFILE ENOBUFS EADDRNOTAVAIL",
  ],
];

/** Reasons that will not change within minutes: a retry is useless. */
const LASTING: ReadonlySet<string> = new Set(["tls", "bad-http", "bad-encoding", "header-limit"]);

/** Turns any thrown value into an error with a reason; errors of this package are returned unchanged. */
export function networkFailure(thrown: unknown, url: string): MementoMapError {
  if (isMementoMapError(thrown)) return thrown;
  const cause = asError(thrown);
  const { code = "", message } = cause as NodeJS.ErrnoException; // undefined for others
  const [reason, text] = KNOWN.find(([, , codes]) => codes.split(" ").includes(code)) ??
    (isNotHttp(cause) ? NOT_HTTP : undefined) ?? [codeReason(code), unknownText(code, message)];
  return new MementoMapError("MM_HTTP", text, { position: { source: url }, cause, reason });
}

/** Whether a failed request is worth a retry soon. */
export function isPassingFault({ cause, reason = "" }: MementoMapError): boolean {
  const isRefusal = cause instanceof Error && "code" in cause && cause.code === PROXY_REFUSAL_CODE;
  return !isRefusal && !LASTING.has(reason);
}

const NOT_HTTP: readonly [FailureReason, string] = ["bad-http", "not an HTTP/1.1 response"];

/** Parser errors, some without a code, and unexpected status 100 and 101, for which undici has only a message. */
function isNotHttp({ name, message }: Error): boolean {
  return name === "HTTPParserError" || message === "bad response" || message === "bad upgrade";
}

/** System codes look like ECONNABORTED, TLS codes like ERR_SSL_WRONG_VERSION_NUMBER. */
function codeReason(code: string): FailureReason {
  if (code === "UND_ERR_SOCKET") return "reset";
  // The messages name the problem.
  if (code === PROXY_ERROR_CODE || code === PROXY_REFUSAL_CODE) return "local";
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return "tls";
  return /^E[A-Z]+$/.test(code) ? "connect" : "internal";
}

/** OpenSSL has too many codes to list, and its messages name its source files. */
function unknownText(code: string, message: string): string {
  if (code === "UND_ERR_SOCKET") return CUT;
  if (code !== "EPROTO" && !code.startsWith("ERR_SSL_")) return message;
  const what = code === "EPROTO" ? "" : ` (${code.slice(8).toLowerCase().replaceAll("_", " ")})`;
  return `TLS handshake failed${what}`;
}
