import type { FailureReason } from "./retry.ts";
import { asError, isMementoMapError, MementoMapError } from "../errors.ts";
import { PROXY_ERROR_CODE, PROXY_REFUSAL_CODE } from "./proxy.ts";

const CUT = "the connection was cut before the end";

/** Reasons, messages and the codes that they are for. */
const KNOWN: readonly (readonly [reason: FailureReason, text: string, codes: string])[] = [
  ["dns", "no such host", "ENOTFOUND"],
  ["dns", "the name of the host could not be looked up", "EAI_AGAIN EAI_FAIL"],
  ["dns", "the host has no address", "EAI_NODATA"],
  ["dns", "the name of the host leads to no address", "ERR_INVALID_IP_ADDRESS"],
  ["connect", "nobody listens there", "ECONNREFUSED"],
  ["connect", "the host cannot be reached", "EHOSTUNREACH ENETUNREACH"],
  ["connect-timeout", "the host does not answer", "ETIMEDOUT UND_ERR_CONNECT_TIMEOUT"],
  ["reset", CUT, "ECONNRESET EPIPE UND_ERR_INFO UND_ERR_RES_CONTENT_LENGTH_MISMATCH"],
  // The end of the connection in the middle of a chunk.
  ["reset", CUT, "HPE_INVALID_EOF_STATE"],
  ["header-limit", "the server sent headers that are too large", "UND_ERR_HEADERS_OVERFLOW"],
  [
    "bad-request",
    "the request has a header that cannot be sent",
    "UND_ERR_INVALID_ARG UND_ERR_NOT_SUPPORTED",
  ],
  ["closed", "the upstream is closed", "UND_ERR_DESTROYED UND_ERR_CLOSED"],
  ["tls", "its certificate has expired", "CERT_HAS_EXPIRED"],
  ["tls", "its certificate is not valid yet", "CERT_NOT_YET_VALID"],
  ["tls", "its certificate is for another host", "ERR_TLS_CERT_ALTNAME_INVALID"],
  [
    "tls",
    "its certificate is signed by nobody who is trusted; NODE_EXTRA_CA_CERTS names a file with more of those",
    "DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ],
  [
    "local",
    "this machine can open no more connections; let the process have more open files",
    "EMFILE ENFILE ENOBUFS EADDRNOTAVAIL",
  ],
];

/** Reasons that stay as they are for a while: what a server is, it is a minute later. */
const LASTING: ReadonlySet<string> = new Set(["tls", "bad-http", "bad-encoding", "header-limit"]);

/** Explains an error of a connection, of a socket, or of ours. Takes whatever was thrown. */
export function networkFailure(thrown: unknown, url: string): MementoMapError {
  if (isMementoMapError(thrown)) return thrown;
  const cause = asError(thrown);
  const { code = "", message } = cause as NodeJS.ErrnoException; // undefined for others
  const [reason, text] = KNOWN.find(([, , codes]) => codes.split(" ").includes(code)) ??
    (isNotHttp(cause) ? NOT_HTTP : undefined) ?? [codeReason(code), unknownText(code, message)];
  return new MementoMapError("MM_HTTP", text, { position: { source: url }, cause, reason });
}

/** Whether a request that failed may go better soon: what a server is, it stays for a while. */
export function isPassingFault({ cause, reason = "" }: MementoMapError): boolean {
  const isRefusal = cause instanceof Error && "code" in cause && cause.code === PROXY_REFUSAL_CODE;
  return !isRefusal && !LASTING.has(reason);
}

const NOT_HTTP: readonly [FailureReason, string] = [
  "bad-http",
  "the answer is not one of HTTP/1.1",
];

/** Faults that the parser found, some without a code; and status 100 and 101, for which undici has a message only. */
function isNotHttp({ name, message }: Error): boolean {
  return name === "HTTPParserError" || message === "bad response" || message === "bad upgrade";
}

/** Codes of the system are like ECONNABORTED; of TLS like ERR_SSL_WRONG_VERSION_NUMBER. */
function codeReason(code: string): FailureReason {
  if (code === "UND_ERR_SOCKET") return "reset";
  // Their messages say what is wrong.
  if (code === PROXY_ERROR_CODE || code === PROXY_REFUSAL_CODE) return "local";
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return "tls";
  return /^E[A-Z]+$/.test(code) ? "connect" : "internal";
}

/** The library of TLS has very many codes, and its messages name files of its source. */
function unknownText(code: string, message: string): string {
  if (code === "UND_ERR_SOCKET") return CUT;
  if (code !== "EPROTO" && !code.startsWith("ERR_SSL_")) return message;
  const what = code === "EPROTO" ? "" : ` (${code.slice(8).toLowerCase().replaceAll("_", " ")})`;
  return `no secure connection could be made${what}`;
}
