import { availableParallelism } from "node:os";
import { threadsWithin } from "../../map/generate/memory.ts";
import type { Interrupt } from "../../interruption.ts";
import type { OptionTable, OptionValues } from "./command.ts";
import type { Io } from "./io.ts";
import { Progress } from "./progress.ts";
import { parsePositive, parseSize } from "./sizes.ts";
import { storedSize } from "./stored-size.ts";

/** The options of commands that do long work: what it may take. */
export const WORK_OPTIONS = {
  memory: {
    type: "string",
    value: "SIZE",
    default: "512m",
    help: "The most memory to use.",
    parse: parseSize,
  },
  threads: {
    type: "string",
    value: "N",
    help: "Default: as many as there are cores and memory for. A number given here is used even if it takes more than --memory.",
    parse: parsePositive,
  },
  tmp: { type: "string", value: "DIR", help: "Where scratch files go. Default: TMPDIR." },
} as const satisfies OptionTable;

/** What long work is given besides what it is about. */
export interface WorkSettings {
  readonly memoryBytes: number;
  readonly threads: number;
  readonly scratch: string | undefined;
  readonly streams: Io;
  readonly interrupt: Interrupt;
  readonly onRead: (bytes: number) => void;
}

/** Does long work on files, and shows how far it is. */
export async function withProgress<T>(
  io: Io,
  paths: readonly string[],
  values: OptionValues<typeof WORK_OPTIONS> & { readonly quiet: boolean },
  work: (settings: WorkSettings) => Promise<T>,
): Promise<T> {
  const total = await storedSize(paths);
  const progress = new Progress(io, { label: "reading", total, quiet: values.quiet });
  try {
    return await work({
      memoryBytes: values.memory,
      threads: values.threads ?? threadsWithin(values.memory, availableParallelism()),
      scratch: values.tmp,
      streams: io,
      interrupt: io.interrupt,
      onRead: (bytes) => {
        progress.add(bytes);
      },
    });
  } finally {
    progress.end();
  }
}
