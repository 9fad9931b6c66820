import { isPacked, joinBytes, PACKED_MAGIC } from "../../bytes/bytes.ts";
import { type ByteSource, sourceChunks } from "../../bytes/byte-source.ts";
import { isMementoMapError } from "../../errors.ts";
import type { FileSource } from "../../files/input-file.ts";
import { withOutput } from "../../files/output-file.ts";
import type { HttpResponse } from "../../http/http-client.ts";
import { checkSignal, type Interrupt } from "../../interruption.ts";
import { openPackedFile } from "../../map/lookup/open-map-file.ts";
import { type MapGuardOptions, packedExtent, refuseShrunk } from "../../map/map-guard.ts";
import { headersOf } from "../../packed/packed-file.ts";
import { checkPacked, readParts } from "../../packed/packed-parts.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";

/*
 * What is new in a packed map comes as deltas behind it. So a client that has a file asks for what follows
 * its bytes; docs/packed.md, section 10, says how.
 */

/** Deltas that are larger than this and than the file are not worth it. */
const MAX_REST_BYTES = 2 ** 20;

interface RestOptions extends MapGuardOptions {
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly interrupt?: Interrupt | undefined;
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** What was added to a file. */
export interface AddedRest {
  readonly headers: UkvsHeaders;
  readonly bytes: number;
}

/** The headers of a request for what follows a packed map in a file; undefined for other files. */
export async function restRequest(target: string): Promise<Record<string, string> | undefined> {
  const file = await packedFile(target);
  if (file === undefined) return undefined;
  await file.close();
  return { Range: `bytes=${file.size}-`, "Accept-Encoding": "identity" };
}

/**
 * Adds what follows a packed map to its file, if these are deltas that fit. The file changes in one
 * step, or not at all.
 *
 * @returns undefined where another map is there, which must be fetched whole.
 * @throws MM_EMPTY, MM_SHRUNK; MM_IO, MM_HTTP
 */
export async function takeRest(
  response: HttpResponse,
  target: string,
  options: RestOptions,
): Promise<AddedRest | undefined> {
  const file = await packedFile(target);
  if (file === undefined) {
    await response.discard();
    return undefined;
  }
  try {
    const rest = await readRest(response, file.size, options);
    return rest === undefined ? undefined : await addTo(file, rest, target, options);
  } catch (error) {
    // A delta that does not fit, or is damaged.
    const isOther = isMementoMapError(error) && ["MM_BAD_INPUT", "MM_CUT"].includes(error.code);
    if (!isOther) throw error;
    return undefined;
  } finally {
    await file.close();
  }
}

/** Undefined for a file that is not there, or not a packed map. */
async function packedFile(path: string): Promise<FileSource | undefined> {
  try {
    return await openPackedFile(path);
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
}

/** Undefined, after the first bytes, for what does not begin as a delta. */
async function readRest(
  response: HttpResponse,
  size: number,
  { maxBytes, signal, onBytes }: RestOptions,
): Promise<Uint8Array | undefined> {
  const { headers } = response;
  const coding = headers.get("content-encoding") ?? "identity";
  const isRest = (headers.get("content-range") ?? "").startsWith(`bytes ${size}-`);
  const most = Math.min(maxBytes - size, Math.max(size, MAX_REST_BYTES));
  const parts: Uint8Array[] = [];
  let length = 0;
  let isDelta = coding === "identity" && isRest;
  if (isDelta) {
    for await (const chunk of response.body) {
      checkSignal(signal);
      parts.push(chunk);
      length += chunk.length;
      onBytes?.(chunk.length);
      isDelta = length <= most && (length < PACKED_MAGIC.length || isPacked(joinBytes(parts)));
      if (!isDelta) break;
    }
  }
  if (isDelta) return joinBytes(parts);
  await response.discard();
  return undefined;
}

async function addTo(
  file: FileSource,
  rest: Uint8Array,
  target: string,
  options: RestOptions,
): Promise<AddedRest> {
  const { signal, interrupt } = options;
  const old = await readParts(file, { signal });
  const both = followedBy(file, rest);
  const { header } = await checkPacked(both, { signal });
  refuseShrunk(packedExtent(old.header), packedExtent(header), file.name, options);
  await withOutput(target, { stdout: process.stdout, interrupt }, async (output) => {
    for await (const chunk of sourceChunks(both, { signal })) await output.write(chunk);
  });
  return { headers: headersOf(header), bytes: rest.length };
}

/** A source, and bytes behind it, as one. */
function followedBy(source: ByteSource, rest: Uint8Array): ByteSource {
  const { name, size } = source;
  return {
    name,
    size: size + rest.length,
    async read(offset, length, signal) {
      const behind = rest.subarray(Math.max(0, offset - size), Math.max(0, offset + length - size));
      if (offset >= size) return behind;
      const before = await source.read(offset, Math.min(length, size - offset), signal);
      return behind.length === 0 ? before : joinBytes([before, behind]);
    },
  };
}
