import type { UpstreamRequest } from "../upstream.ts";
import { ArchiveRequest, type AskedArchive } from "./archive-request.ts";
import type { AnswerReceiver } from "./exchange.ts";

/** A request to an archive, ready to `begin`. */
export function askArchive(
  archive: AskedArchive,
  { url, method = "GET", headers, followsRedirects, maxBytes }: UpstreamRequest,
  receiver: AnswerReceiver,
): ArchiveRequest {
  const sent = headersOf(archive.headers, headers);
  const request = { url, method, headers: sent, followsRedirects, maxBytes };
  return new ArchiveRequest(archive, request, receiver);
}

function headersOf(
  common: readonly string[],
  own: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  if (own === undefined) return common;
  const headers: string[] = [];
  for (let at = 0; at < common.length; at += 2) {
    if (!Object.hasOwn(own, common[at])) headers.push(common[at], common[at + 1]);
  }
  for (const [name, value] of Object.entries(own)) headers.push(name, value);
  return headers;
}
