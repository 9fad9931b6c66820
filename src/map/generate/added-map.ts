import { stat } from "node:fs/promises";
import { MementoMapError } from "../../errors.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import { mapHeadOf, refuseCut, refuseEmpty } from "../lookup/map-head.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { recognizeCompression } from "../../bytes/bytes.ts";
import { ioError } from "../../files/io-error.ts";
import {
  compressedInput,
  decompressedHead,
  plainInput,
  wholeLinesOf,
} from "../../input/file-inputs.ts";
import type { IndexInput, OpenOptions } from "../../input/index-input.ts";
import { readHead } from "../../input/open-inputs.ts";

/** A map that an index is added to. */
export interface AddedMap {
  readonly input: IndexInput;
  readonly headers: UkvsHeaders;
}

/**
 * Opens a map to add to it. Its rows are read like those of an index.
 *
 * @throws MM_USAGE where its keys are not those that are asked for; MM_BAD_INPUT, MM_BAD_LINE and
 *   MM_BAD_FREQUENCY when it is no map; MM_BAD_HEADER; MM_CUT, MM_EMPTY; MM_IO
 */
export async function openAddedMap(
  path: string,
  datetimeDigits: number,
  options: OpenOptions,
): Promise<AddedMap> {
  const stats = await stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  const stored = await readHead(path);
  const isCompressed = recognizeCompression(stored) !== undefined;
  const head = isCompressed ? await decompressedHead(path, { damage: options.damage }) : stored;
  const mapHead = mapHeadOf(wholeLinesOf(head), path);
  const { headers, bodyOffset } = mapHead;
  // How long a compressed map is will be known when it has been read.
  if (isCompressed) refuseEmpty(mapHead, head.length, path);
  else refuseCut(mapHead, stats.size, path);
  checkKeys(headers, datetimeDigits, path);
  const format: DetectedFormat = { name: "map", datetimeDigits };
  const expected = headers.size === undefined ? undefined : { stated: headers.size, bodyOffset };
  const file = { path, source: path, size: stats.size, expected };
  const input = isCompressed
    ? compressedInput(file, format, options)
    : plainInput(path, stats.size, format);
  return { input, headers };
}

function checkKeys({ fields }: UkvsHeaders, datetimeDigits: number, path: string): void {
  const wanted = datetimeDigits > 0 ? "surt datetime" : "surt";
  if (fields.keys.join(" ") === wanted && fields.values.join(" ") === "frequency") return;
  throw new MementoMapError(
    "MM_USAGE",
    `cannot be added to: it has the columns ${[...fields.keys, ...fields.values].join(", ")}, and ` +
      `${wanted.replace(" ", ", ")}, frequency are made; give the --by it was made with, or use merge`,
    { position: { source: path } },
  );
}
