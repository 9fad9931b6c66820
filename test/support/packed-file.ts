import { packMap, type PackOptions } from "../../src/pack/pack-files.ts";
import { EXAMPLE_MAP } from "./serving.ts";

/** The bytes of a packed map. */
export async function packedBytes(
  text: string = EXAMPLE_MAP,
  options: Partial<PackOptions> = {},
): Promise<Uint8Array> {
  // oxlint-disable-next-line typescript/require-await -- a stream is asynchronous
  async function* stdin(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(text);
  }
  return (await packMap("-", { streams: { stdin: stdin() }, ...options })).file;
}
