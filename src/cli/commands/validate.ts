import type { CommandIo } from "../common/messages.ts";
import { inputsOf, option } from "../common/options.ts";
import { formatAmount, formatBytes } from "../../format.ts";
import { isMementoMapError } from "../../errors.ts";
import { openPackedFile } from "../../lookup/open-map-file.ts";
import { FAULT_SEVERITIES, type FaultCode } from "../../maps/map-faults.ts";
import { validateMap } from "../../maps/validate-map.ts";
import { checkPublisher, PUBLISHER_RULES } from "../../publish/fetch/check-publisher.ts";
import { NodeClient } from "../../http/node-client.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { type ByteSource, MemorySource } from "../../bytes/byte-source.ts";
import { isPacked, joinBytes } from "../../bytes/bytes.ts";
import { peekHead } from "../../input/stream-lines.ts";
import { openOutput } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode, writeLines } from "../common/io.ts";

export const command: Command = defineCommand({
  name: "validate",
  usage: "[MAP...] | --url ARCHIVE-URL",
  description: `
Writes a line for each problem of a map, with its position and its code:

    map.ukvs:12: error: key "com,a)/" comes after "com,b)/" [not-sorted]

An error makes the map wrong or unreadable. A warning concerns something that is
allowed, but probably not intended. All problems are listed, not only the first.

A packed map is checked completely: its header, its directory and every shard.
For a damaged map, the line names the damaged part; for a valid one, a summary
of its content is written to standard error.

With --url, discovers the map that an archive publishes and checks the rules of
docs/dissemination.md, with a line for the result of each:

    warning: the response has no ETag; there should be a strong ETag [P4]

A violated MUST is an error, a violated SHOULD a warning.

Exit status: 0 if there is no error, 1 if there is one; with --strict warnings
count as errors.
`,
  options: {
    url: option.address("Check how an archive publishes its map."),
    for: option.address(
      "With --url: the archive whose map to check, if another site publishes it.",
    ),
    strict: { help: "Exit with status 1 for warnings too." },
  },
  examples: {
    "check a map": "mementomap validate map.ukvs",
    "treat warnings as errors": "mementomap validate --strict map.ukvs",
    "check a packed map": "mementomap validate map.packed",
    "check a publisher": "mementomap validate --url https://archive.example/",
    "check a map that an aggregator publishes for an archive":
      "mementomap validate --url https://agg.example/ --for https://arquivo.pt/",
    "for a program": "mementomap validate --json < map.ukvs",
  },

  files({ positionals, values: { url, for: archive } }) {
    if (url === undefined && archive !== undefined) throw usage("validate", "--for needs --url");
    if (url === undefined) return { reads: { maps: inputsOf(positionals) } };
    if (positionals.length > 0) throw usage("validate", "check either files or --url");
    return { reads: {} };
  },
  async run({ positionals, values: { url, for: archive, json, strict } }, io) {
    const counts = { ok: 0, error: 0, warning: 0, skipped: 0 };
    const packed: object[] = [];
    const findings =
      url === undefined ? faultsOf(inputsOf(positionals), packed, io) : rulesOf(url, archive, io);

    async function* lines(): AsyncGenerator<string, void, undefined> {
      for await (const { outcome, json: object, text } of findings) {
        counts[outcome]++;
        yield json ? JSON.stringify(object) : text;
      }
    }

    try {
      await writeLines(await openOutput(undefined, io), lines());
    } catch (error) {
      if (!isMementoMapError(error) || error.code !== "MM_NOT_FOUND") throw error;
      io.stderr.write(`mementomap: ${error.describe()}\n`);
      return { status: ExitCode.negative };
    }
    const { error: errors, warning: warnings } = counts;
    const isBad = errors > 0 || (strict && warnings > 0);
    return {
      status: isBad ? ExitCode.negative : ExitCode.ok,
      summary: {
        json: { errors, warnings, ...(packed.length > 0 && { packed }) },
        text: `${formatAmount(errors, "error")}, ${formatAmount(warnings, "warning")}`,
      },
    };
  },
});

/** One line of the output. */
interface Finding {
  readonly outcome: "ok" | "error" | "warning" | "skipped";
  readonly json: object;
  readonly text: string;
}

type Findings = AsyncGenerator<Finding, void, undefined>;

async function* rulesOf(source: string, archive: string | undefined, io: CommandIo): Findings {
  const { signal } = io.interrupt;
  const proxies = ProxySettings.of(io.env);
  const client = new NodeClient({ trustedOrigins: [new URL(source).origin], proxies });
  try {
    for await (const found of checkPublisher(client, source, { archive, signal })) {
      const { rule, outcome, message } = found;
      const { level, asks } = PUBLISHER_RULES[rule];
      const isBroken = outcome === "error" || outcome === "warning";
      yield {
        outcome,
        json: { source, rule, level, asks, outcome, message },
        text: `${outcome}: ${message}${isBroken ? `; ${asks}` : ""} [${rule}]`,
      };
    }
  } finally {
    client.close();
  }
}

/** @param sound collects the summaries of valid packed maps */
async function* faultsOf(paths: readonly string[], sound: object[], io: CommandIo): Findings {
  for (const path of paths) {
    const packed = await openPackedFile(path);
    if (packed !== undefined) {
      try {
        yield* packedFaults(packed, sound, io);
      } finally {
        await packed.close();
      }
      continue;
    }
    const { name, chunks } = await io.open(path, "checking");
    const whole = await peekHead(chunks);
    if (isPacked(whole.head)) {
      // Random access is required, so a compressed or piped map is loaded into memory.
      yield* packedFaults(new MemorySource(await joinChunks(whole.chunks), name), sound, io);
    } else {
      for await (const { line, ...what } of validateMap(whole.chunks))
        yield fault(name, line, what);
    }
  }
}

function fault(
  source: string,
  line: number | null,
  { severity, code, message }: { severity: "error" | "warning"; code: string; message: string },
): Finding {
  const place = line === null ? source : `${source}:${line}`;
  return {
    outcome: severity,
    json: { source, line, severity, code, message },
    text: `${place}: ${severity}: ${message} [${code}]`,
  };
}

async function joinChunks(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk.slice());
  return joinBytes(parts);
}

async function* packedFaults(file: ByteSource, sound: object[], io: CommandIo): Findings {
  const { name: source, size: bytes } = file;
  const progress = io.progress("checking", bytes);
  const { checkPacked } = await import("../../packed/read-packed.ts");
  const checking = checkPacked(file, {
    signal: io.interrupt.signal,
    onRead: (read) => progress.add(read),
  });
  try {
    const { header, shards } = await checking.finally(() => progress.end());
    const { rows, hosts, voids } = header;
    sound.push({ source, rows, hosts, voids, shards: shards.length, bytes });
    const parts = [
      formatAmount(rows, "row"),
      formatAmount(hosts, "host"),
      ...(voids > 0 ? [formatAmount(voids, "void")] : []),
      formatBytes(bytes),
    ];
    io.note(`${source}: a packed map, ${parts.join(", ")}`);
  } catch (error) {
    if (!isMementoMapError(error) || !["MM_BAD_INPUT", "MM_CUT"].includes(error.code)) throw error;
    const code: FaultCode = error.code === "MM_CUT" ? "cut" : "damaged";
    const { message } = error;
    yield fault(source, null, { severity: FAULT_SEVERITIES[code], code, message });
  }
}
