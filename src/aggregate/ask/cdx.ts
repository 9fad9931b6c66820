import { MementoMapError, quote } from "../../errors.ts";
import { tryParseDatetime } from "../../memento/datetime.ts";
import { MementoList, sendableUri } from "../../memento/memento-list.ts";
import { answerOf, answerOfStatus, unreadableAnswer } from "./answer.ts";
import { type Asking, type Reading, resolveUris } from "./timemap.ts";

/** A CDX server, and the replay of its captures. */
export interface CdxEndpoint {
  /** Its URL, to which `url=` is added. */
  readonly cdx: string;
  /** Prefix of replay URLs: followed by the datetime and the URI of a capture. */
  readonly replay: string;
}

/** Longer lines are invalid. */
const MAX_LINE_BYTES = 64 * 1024;

/** The URL that lists the captures of a URI. */
export function cdxQuery({ cdx }: CdxEndpoint, uri: string): string {
  const separator = cdx.includes("?") ? "&" : "?";
  return `${cdx}${separator}url=${encodeURIComponent(uri)}&output=json`;
}

/**
 * Queries a CDX server for all captures of an original. Supports the usual responses to `output=json`: an array of
 * arrays (the Wayback Machine, OutbackCDX), one object per line (pywb), CDXJ, and lines of 11 fields.
 *
 * @throws if there is no response: see `Client.get`.
 */
export async function readCdx(
  asking: Asking,
  endpoint: CdxEndpoint,
  uri: string,
): Promise<Reading> {
  const mementos = new MementoList();
  let fault: string | undefined;
  const take = (line: string): void => {
    const text = line.trim();
    if (text === "" || /^[[\]]*$/.test(text)) return;
    const capture = captureOf(text);
    if (capture === "none") return;
    const datetime = tryParseDatetime(capture?.timestamp ?? "");
    if (capture === undefined || datetime === undefined) {
      fault ??= text;
      return;
    }
    const { maxMementos } = asking.limits;
    if (mementos.count >= maxMementos) {
      throw limit(`the archive has more than ${maxMementos} mementos`, "memento-limit");
    }
    mementos.add(`${endpoint.replay}${capture.timestamp}/${sendableUri(capture.url)}`, datetime);
  };
  const decoder = new TextDecoder();
  /** The incomplete last line. */
  let rest = "";
  const write = (chunk: Uint8Array): void => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_BYTES) throw limit("a line is too long", "bad-timemap");
    lines.forEach(take);
  };
  const head = await asking.get({ url: cdxQuery(endpoint, uri) }, ({ status }) =>
    status === 200 ? write : undefined,
  );
  const { status, headers, url } = head;
  if (status !== 200) return { answer: answerOfStatus(status), headers };
  take(rest);
  if (fault !== undefined) {
    const message = `the response is not that of a CDX server; it has ${quote(fault, 40)}`;
    return { answer: unreadableAnswer(status, "bad-timemap", message), headers };
  }
  return { answer: answerOf(resolveUris(mementos, url), { status }), headers };
}

/** The datetime and URI of a capture; `none` for a header line; undefined for anything else. */
function captureOf(text: string): { timestamp: string; url: string } | "none" | undefined {
  try {
    if (text.startsWith("[")) {
      const [row] = [JSON.parse(text.replace(/^\[(?=\[)|,$|(?<=\])\]$/g, ""))] as [unknown[]];
      const [, timestamp, url] = row.map(String);
      return timestamp === "timestamp" ? "none" : { timestamp, url };
    }
    if (text.startsWith("{")) {
      const { timestamp, url } = JSON.parse(text) as Record<string, unknown>;
      return { timestamp: String(timestamp), url: String(url) };
    }
  } catch {
    return undefined;
  }
  const [, timestamp = "", rest = ""] = /^\S+ (\d{14}) (.*)$/.exec(text) ?? [];
  if (timestamp === "") return /^ ?CDX /.test(text) ? "none" : undefined;
  if (!rest.startsWith("{")) return { timestamp, url: rest.split(" ")[0] };
  const [, url = ""] = /"url": ?"((?:[^"\\]|\\.)*)"/.exec(rest) ?? [];
  return url === "" ? undefined : { timestamp, url: JSON.parse(`"${url}"`) as string };
}

function limit(message: string, reason: "bad-timemap" | "memento-limit"): MementoMapError {
  return new MementoMapError("MM_LIMIT", message, { reason });
}
