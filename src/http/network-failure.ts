import { type FailureReason, failureReasonOf } from "./retry.ts";
import { asError, isMementoMapError, MementoMapError } from "../errors.ts";
import { PROXY_ERROR_CODE, PROXY_REFUSAL_CODE } from "./proxy.ts";

/** What went wrong, in words and in kind. */
interface NetworkFailure {
  readonly error: MementoMapError;
  readonly reason: FailureReason;
}

const NOBODY_TRUSTED =
  "its certificate is signed by nobody who is trusted; NODE_EXTRA_CA_CERTS names a file with more of those";
const NO_CONNECTION_LEFT =
  "this machine can open no more connections; let the process have more open files";

const CUT = "the connection was cut before the end";

const KNOWN: Readonly<Record<string, readonly [FailureReason, string]>> = {
  ENOTFOUND: ["dns", "no such host"],
  EAI_AGAIN: ["dns", "the name of the host could not be looked up"],
  EAI_NODATA: ["dns", "the host has no address"],
  EAI_FAIL: ["dns", "the name of the host could not be looked up"],
  ERR_INVALID_IP_ADDRESS: ["dns", "the name of the host leads to no address"],
  ECONNREFUSED: ["connect", "nobody listens there"],
  EHOSTUNREACH: ["connect", "the host cannot be reached"],
  ENETUNREACH: ["connect", "the host cannot be reached"],
  ETIMEDOUT: ["connect-timeout", "the host does not answer"],
  ECONNRESET: ["reset", CUT],
  EPIPE: ["reset", CUT],
  UND_ERR_CONNECT_TIMEOUT: ["connect-timeout", "the host does not answer"],
  UND_ERR_INFO: ["reset", CUT],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["reset", CUT],
  // The end of the connection in the middle of a chunk.
  HPE_INVALID_EOF_STATE: ["reset", CUT],
  UND_ERR_HEADERS_OVERFLOW: ["header-limit", "the server sent headers that are too large"],
  UND_ERR_INVALID_ARG: ["bad-request", "the request has a header that cannot be sent"],
  UND_ERR_NOT_SUPPORTED: ["bad-request", "the request has a header that cannot be sent"],
  UND_ERR_DESTROYED: ["closed", "the upstream is closed"],
  UND_ERR_CLOSED: ["closed", "the upstream is closed"],
  CERT_HAS_EXPIRED: ["tls", "its certificate has expired"],
  CERT_NOT_YET_VALID: ["tls", "its certificate is not valid yet"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "its certificate is for another host"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["tls", NOBODY_TRUSTED],
  SELF_SIGNED_CERT_IN_CHAIN: ["tls", NOBODY_TRUSTED],
  UNABLE_TO_GET_ISSUER_CERT: ["tls", NOBODY_TRUSTED],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["tls", NOBODY_TRUSTED],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["tls", NOBODY_TRUSTED],
  EMFILE: ["local", NO_CONNECTION_LEFT],
  ENFILE: ["local", NO_CONNECTION_LEFT],
  ENOBUFS: ["local", NO_CONNECTION_LEFT],
  EADDRNOTAVAIL: ["local", NO_CONNECTION_LEFT],
};

/** Codes whose errors say themselves what is wrong. */
const SPEAKING: Readonly<Record<string, FailureReason>> = {
  [PROXY_ERROR_CODE]: "local",
  [PROXY_REFUSAL_CODE]: "local",
};

/** Reasons that stay as they are for a while: what a server is, it is a minute later. */
const LASTING: ReadonlySet<FailureReason> = new Set([
  "tls",
  "bad-http",
  "bad-encoding",
  "header-limit",
]);

/** Explains an error of a connection, of a socket, or of ours. Takes whatever was thrown. */
export function networkFailure(thrown: unknown, url: string): NetworkFailure {
  if (isMementoMapError(thrown)) {
    return {
      error: thrown,
      reason: thrown.reason === undefined ? "connect" : failureReasonOf(thrown),
    };
  }
  const cause = asError(thrown);
  const { code = "", message } = cause as NodeJS.ErrnoException; // undefined for others
  const [reason, text] = KNOWN[code] ??
    (isNotHttp(cause) ? NOT_HTTP : undefined) ?? [
      SPEAKING[code] ?? codeReason(code),
      unknownText(code, message),
    ];
  return {
    reason,
    error: new MementoMapError("MM_HTTP", text, { position: { source: url }, cause, reason }),
  };
}

/** Whether a request that failed may go better soon: what a server is, it stays for a while. */
export function isPassingFault({ cause }: MementoMapError): boolean {
  if (!(cause instanceof Error)) return true;
  const { code } = cause as NodeJS.ErrnoException; // undefined for others
  return code !== PROXY_REFUSAL_CODE && !LASTING.has(networkFailure(cause, "").reason);
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
