import { openInput } from "../files/input-file.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import { streamInput } from "./stream-input.ts";

/**
 * Joins all MemGator logs into one input, because the same URI is asked for in many of them, and
 * its mementos must not be added up. Other inputs stay as they are.
 */
export function joinMemgatorLogs(
  inputs: readonly IndexInput[],
  options: OpenOptions,
): IndexInput[] {
  const logs = inputs.filter((input) => input.format.container === "memgator-log");
  const files = logs.filter((input) => input.source !== "stdin");
  if (logs.length < 2 || files.length < logs.length) return [...inputs];
  const [first] = files;
  const stored = { bytes: 0 };
  const chunks = concatenated(
    files.map((input) => input.source),
    options,
    stored,
  );
  const source = `${first.source} and ${files.length - 1} more`;
  const joined = {
    ...streamInput(source, first.format, { ...options, chunks, stored }),
    size: files.reduce((sum, input) => sum + (input.size ?? 0), 0),
  };
  return [joined, ...inputs.filter((input) => !logs.includes(input))];
}

async function* concatenated(
  paths: readonly string[],
  options: OpenOptions,
  stored: { bytes: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const path of paths) {
    const input = await openInput(path, options.streams, {
      signal: options.signal,
      onRead: (bytes) => {
        stored.bytes += bytes;
      },
    });
    yield* input.chunks;
    yield Uint8Array.of(0x0a); // a log may lack its last line end
  }
}
