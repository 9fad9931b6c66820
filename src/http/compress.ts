import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { chooseEncoding, type HttpRequest, type Reply } from "./reply.ts";

const compress = promisify(gzip);

/** Shorter texts fit in one packet uncompressed. */
const MIN_LENGTH = 1400;
const COMPRESSIBLE = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/;

/** Drops the body of a reply to HEAD, and compresses text for clients that accept gzip. */
export function compressedReply(
  { method, headers: { "accept-encoding": accepted } }: HttpRequest,
  reply: Reply,
): Reply | Promise<Reply> {
  const { body, headers } = reply;
  const isText = COMPRESSIBLE.test(headers["Content-Type"] ?? "");
  const whole = method === "HEAD" ? { ...reply, body: undefined } : reply;
  if (typeof body !== "string" || body.length < MIN_LENGTH || !isText) return whole;
  const vary = [headers["Vary"], "Accept-Encoding"].filter(Boolean).join(", ");
  const about = { ...headers, Vary: vary };
  if (chooseEncoding(accepted?.toString(), ["gzip"]) === undefined) {
    return { ...whole, headers: about };
  }
  return compress(body, { level: 5 }).then((bytes) => ({
    ...whole,
    headers: {
      ...about,
      ...(headers["ETag"] === undefined ? {} : { ETag: headers["ETag"].replace(/"$/, '-gzip"') }),
      "Content-Encoding": "gzip",
      "Content-Length": String(bytes.length),
    },
    body: method === "HEAD" ? undefined : bytes,
  }));
}
