import { isMementoMapError, MementoMapError } from "../../errors.ts";
import { PROXY_ERROR_CODE, PROXY_REFUSAL_CODE } from "../proxy/tunnel.ts";
import type { FailureKind } from "./exchange.ts";

/** What went wrong, in words and in kind. */
export interface NetworkFailure {
  readonly error: MementoMapError;
  readonly kind: FailureKind;
}

const NOBODY_TRUSTED =
  "its certificate is signed by nobody who is trusted; NODE_EXTRA_CA_CERTS names a file with more of those";
const NO_CONNECTION_LEFT =
  "this machine can open no more connections; let the process have more open files";

const KNOWN: Readonly<Record<string, readonly [FailureKind, string]>> = {
  ENOTFOUND: ["connect", "there is no such host"],
  EAI_AGAIN: ["connect", "the name of the host could not be looked up"],
  ECONNREFUSED: ["connect", "nobody listens there"],
  EHOSTUNREACH: ["connect", "there is no way to the host"],
  ENETUNREACH: ["connect", "there is no way to the host"],
  ETIMEDOUT: ["connect", "the host does not answer"],
  UND_ERR_CONNECT_TIMEOUT: ["connect", "the host does not answer"],
  ECONNRESET: ["cut", "the connection was cut before the end"],
  EPIPE: ["cut", "the connection was cut before the end"],
  UND_ERR_SOCKET: ["cut", "the connection was cut before the end"],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["cut", "the answer does not end where its head says"],
  UND_ERR_HEADERS_OVERFLOW: ["protocol", "the server sent headers that are too large"],
  HPE_HEADER_OVERFLOW: ["protocol", "the server sent headers that are too large"],
  CERT_HAS_EXPIRED: ["protocol", "its certificate has expired"],
  CERT_NOT_YET_VALID: ["protocol", "its certificate is not valid yet"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["protocol", "its certificate is for another host"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["protocol", NOBODY_TRUSTED],
  SELF_SIGNED_CERT_IN_CHAIN: ["protocol", NOBODY_TRUSTED],
  UNABLE_TO_GET_ISSUER_CERT: ["protocol", NOBODY_TRUSTED],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["protocol", NOBODY_TRUSTED],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["protocol", NOBODY_TRUSTED],
  UND_ERR_INVALID_ARG: ["refused", "the request has a header that cannot be sent"],
  UND_ERR_NOT_SUPPORTED: ["refused", "the request has a header that cannot be sent"],
  UND_ERR_DESTROYED: ["refused", "the upstream is closed"],
  UND_ERR_CLOSED: ["refused", "the upstream is closed"],
  EMFILE: ["local", NO_CONNECTION_LEFT],
  ENFILE: ["local", NO_CONNECTION_LEFT],
  ENOBUFS: ["local", NO_CONNECTION_LEFT],
  EADDRNOTAVAIL: ["local", NO_CONNECTION_LEFT],
};

/** Codes whose errors say themselves what is wrong. */
const SPEAKING: Readonly<Record<string, FailureKind>> = {
  [PROXY_ERROR_CODE]: "local",
  [PROXY_REFUSAL_CODE]: "local",
};

/** Explains an error of undici, of a socket, or of ours. */
export function networkFailure(error: unknown, url: string): NetworkFailure {
  if (isMementoMapError(error)) {
    const kind =
      error.code === "MM_LIMIT" ? "limit" : error.code === "MM_HTTP" ? "connect" : "refused";
    return { error, kind };
  }
  const { code = "", message } = error as NodeJS.ErrnoException; // undici gives errors only
  const [kind, text] = KNOWN[code] ?? [
    SPEAKING[code] ?? codeKind(code),
    unknownText(code, message),
  ];
  return {
    kind,
    error: new MementoMapError("MM_HTTP", text, { position: { source: url }, cause: error }),
  };
}

/** Whether a request that failed may go better soon: what a server is, it stays for a while. */
export function isPassingFault({ cause }: MementoMapError): boolean {
  if (!(cause instanceof Error)) return true;
  const { code } = cause as NodeJS.ErrnoException; // undefined for others
  return code !== PROXY_REFUSAL_CODE && networkFailure(cause, "").kind !== "protocol";
}

/** Codes of the system are like ECONNABORTED; others are of the parser or of TLS, and stay. */
function codeKind(code: string): FailureKind {
  return /^E[A-Z]+$/.test(code) && code !== "EPROTO" ? "connect" : "protocol";
}

/** The library of TLS has very many codes, and its messages name files of its source. */
function unknownText(code: string, message: string): string {
  if (code !== "EPROTO" && !code.startsWith("ERR_SSL_")) return message;
  const what = code === "EPROTO" ? "" : ` (${code.slice(8).toLowerCase().replaceAll("_", " ")})`;
  return `no secure connection could be made${what}`;
}
