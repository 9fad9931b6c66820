import { formatAmount, isMementoMapError, quote } from "../../errors.ts";
import { openPackedFile } from "../../map/lookup/open-map-file.ts";
import { FAULT_SEVERITIES, type FaultCode } from "../../map/map-faults.ts";
import { validateMap } from "../../map/validate-map.ts";
import { checkPublisher, PUBLISHER_RULES } from "../../publish/fetch/check-publisher.ts";
import { NodeClient } from "../../http/node-client.ts";
import { ProxySettings } from "../../http/proxy.ts";
import { type ByteSource, MemorySource } from "../../bytes/byte-source.ts";
import { isPacked, joinBytes } from "../../bytes/bytes.ts";
import { openInput } from "../../files/input-file.ts";
import { peekHead } from "../../input/file-inputs.ts";
import { openOutput } from "../../files/output-file.ts";
import { type PackedHead, statedYears, type Years } from "../../packed/packed-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode, type Io, LineWriter } from "../common/io.ts";
import { formatSize, Progress } from "../common/messages.ts";

export const validate: Command = defineCommand({
  name: "validate",
  summary: "List the faults of a map or of its publication",
  usage: "[MAP...] | --url ARCHIVE-URL",
  description: `
Writes a line for each fault of a map, with its place and its code:

    map.ukvs:12: error: key "com,a)/" comes after "com,b)/" [not-sorted]

An error makes the map wrong or unreadable. A warning is about something that is
allowed, but probably not intended. Reading continues after a fault, so that all
are listed.

A packed map is checked completely: its header, its directory and every part,
including those of its deltas. For a damaged map, the line names the part; for a
valid one, standard error describes its content, and the years of its hosts if
it states them.

With --url, discovers the map that an archive publishes and checks the rules of
docs/dissemination.md, with a line for each that says what was found:

    warning: the response has no ETag; there should be a strong ETag [P4]

A violated MUST is an error, a violated SHOULD a warning.

Exit status: 0 if there is no error, 1 if there is one; with --strict warnings
count as errors.
`,
  options: {
    url: { value: "ARCHIVE-URL", help: "Check how an archive publishes its map." },
    archive: {
      value: "URL",
      help: "With --url: the archive whose map to check, if another site publishes it.",
    },
    strict: { help: "Exit with status 1 for warnings too." },
  },
  examples: {
    "check a map": "mementomap validate map.ukvs",
    "treat warnings as errors": "mementomap validate --strict map.ukvs",
    "check a packed map": "mementomap validate map.packed",
    "check a publisher": "mementomap validate --url https://archive.example/",
    "check the map of an archive that an aggregator shares":
      "mementomap validate --url https://agg.example/ --archive https://arquivo.pt/",
    "for a program": "mementomap validate --json < map.ukvs",
  },

  async run({ positionals, values }, io) {
    if (values.url !== undefined) {
      if (positionals.length > 0) throw usage("validate", "check either files or --url");
      return checkUrl(values.url, { io, ...values });
    }
    if (values.archive !== undefined) throw usage("validate", "--archive needs --url");
    const paths = positionals.length === 0 ? ["-"] : positionals;
    if (paths.filter((path) => path === "-").length > 1) {
      throw usage("validate", "standard input can be read only once");
    }
    const options = { io, ...values };
    const lines = new LineWriter(await openOutput(undefined, io));
    const counts = { error: 0, warning: 0 };
    for (const path of paths) {
      const faults = await checkPath(path, lines, options);
      counts.error += faults.error;
      counts.warning += faults.warning;
    }
    await lines.flush();
    return conclude(counts, options);
  },
});

interface CheckOptions {
  readonly io: Io;
  readonly archive?: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly strict: boolean;
}

async function checkUrl(address: string, options: CheckOptions): Promise<ExitCode> {
  const { io, json, archive } = options;
  for (const [name, url] of Object.entries({ "--url": address, "--archive": archive })) {
    if (url === undefined || URL.canParse(url)) continue;
    throw usage("validate", `${name}: ${quote(url)} is not a web address`);
  }
  const proxies = ProxySettings.of(io.env);
  const client = new NodeClient({ trustedOrigins: [new URL(address).origin], proxies });
  const lines = new LineWriter(await openOutput(undefined, io));
  const counts = { ok: 0, error: 0, warning: 0, skipped: 0 };
  try {
    const { signal } = io.interrupt;
    for await (const { rule, outcome, message } of checkPublisher(client, address, {
      archive,
      signal,
    })) {
      counts[outcome] += 1;
      const { level, asks } = PUBLISHER_RULES[rule];
      const isBroken = outcome === "error" || outcome === "warning";
      await lines.write(
        json
          ? JSON.stringify({ source: address, rule, level, asks, outcome, message })
          : `${outcome}: ${message}${isBroken ? `; ${asks}` : ""} [${rule}]`,
      );
    }
  } catch (error) {
    if (!isMementoMapError(error) || error.code !== "MM_NOT_FOUND") throw error;
    io.stderr.write(`mementomap: ${error.describe()}\n`);
    return ExitCode.negative;
  } finally {
    await lines.flush();
    client.close();
  }
  return conclude(counts, options);
}

/** Says how many faults there are, and whether they are bad. */
function conclude(
  { error, warning }: { readonly error: number; readonly warning: number },
  { io, quiet, strict }: CheckOptions,
): ExitCode {
  if (!quiet) {
    io.stderr.write(`${formatAmount(error, "error")}, ${formatAmount(warning, "warning")}\n`);
  }
  return error > 0 || (strict && warning > 0) ? ExitCode.negative : ExitCode.ok;
}

async function checkPath(
  path: string,
  lines: LineWriter,
  options: CheckOptions,
): Promise<{ error: number; warning: number }> {
  const packed = await openPackedFile(path);
  if (packed === undefined) return checkFile(path, lines, options);
  try {
    return await checkPackedFile(packed, lines, options);
  } finally {
    await packed.close();
  }
}

async function checkFile(
  path: string,
  lines: LineWriter,
  { io, json, quiet, strict }: CheckOptions,
): Promise<{ error: number; warning: number }> {
  const progress = new Progress(io, { label: "checking", quiet });
  const input = await openInput(path, io, {
    signal: io.interrupt.signal,
    onRead: (bytes) => progress.add(bytes),
  });
  progress.total = input.size;
  const counts = { error: 0, warning: 0 };
  try {
    const { head, chunks } = await peekHead(input.chunks);
    if (isPacked(head)) {
      // It is read at random: one that is compressed or comes from standard input is held.
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk.slice());
      const file = new MemorySource(joinBytes(parts), input.name);
      return await checkPackedFile(file, lines, { io, json, quiet, strict });
    }
    for await (const fault of validateMap(chunks)) {
      counts[fault.severity] += 1;
      const { line, severity, code, message } = fault;
      const sent = lines.write(
        json
          ? JSON.stringify({ source: input.name, line, severity, code, message })
          : `${input.name}:${line}: ${severity}: ${message} [${code}]`,
      );
      if (sent !== undefined) await sent;
    }
  } finally {
    progress.end();
  }
  return counts;
}

async function checkPackedFile(
  file: ByteSource,
  lines: LineWriter,
  { io, json, quiet }: CheckOptions,
): Promise<{ error: number; warning: number }> {
  const progress = new Progress(io, { label: "checking", quiet, total: file.size });
  const source = file.name;
  const write = async (code: FaultCode, message: string): Promise<void> => {
    const severity = FAULT_SEVERITIES[code];
    await lines.write(
      json
        ? JSON.stringify({ source, line: null, severity, code, message })
        : `${source}: ${severity}: ${message} [${code}]`,
    );
  };
  try {
    const { checkPacked } = await import("../../packed/packed-parts.ts");
    const { signal } = io.interrupt;
    const { heads } = await checkPacked(file, { signal, onRead: (bytes) => progress.add(bytes) });
    progress.end();
    const sum = (count: (head: PackedHead) => number): number =>
      heads.reduce((all, head) => all + count(head), 0);
    const about = {
      rows: sum(({ header }) => header.rows),
      hosts: sum(({ header }) => header.hosts),
      voids: sum(({ header }) => header.voids),
      shards: sum(({ shards }) => shards.length),
      deltas: heads.length - 1,
      ...statedYears(heads[0].header),
      bytes: file.size,
    };
    if (!quiet) {
      const text = json ? JSON.stringify({ source, ...about }) : `${source}: ${described(about)}`;
      io.stderr.write(`${text}\n`);
    }
    const faults = yearFaults(heads);
    for (const [code, message] of faults) await write(code, message);
    return { error: 0, warning: faults.length };
  } catch (error) {
    if (!isMementoMapError(error) || !["MM_BAD_INPUT", "MM_CUT"].includes(error.code)) throw error;
    await write(error.code === "MM_CUT" ? "cut" : "damaged", error.message);
    return { error: 1, warning: 0 };
  } finally {
    progress.end();
  }
}

/** What is wrong with the years of hosts, by code, in a packed map that can be read. */
function yearFaults([{ header }, ...deltas]: readonly PackedHead[]): [
  code: FaultCode,
  message: string,
][] {
  const { table, periods = [] } = header;
  const faults: [code: FaultCode, message: string][] = [];
  const numbers = 2 ** (table.period ?? 0);
  if (numbers > 1 && periods.length === 0) {
    faults.push([
      "no-periods",
      `hosts have ${table.period} bits for a period, and no period is listed`,
    ]);
  }
  if (periods.length > numbers || (periods.length > 0 && table.fingerprint === 0)) {
    const used = table.fingerprint === 0 ? 0 : numbers;
    faults.push([
      "idle-periods",
      `${periods.length} periods are listed, and hosts can have ${used} of them`,
    ]);
  }
  if (deltas.length > 0 && statedYears(header) !== undefined) {
    faults.push([
      "years-with-deltas",
      "it has the years of hosts, which lookups ignore because deltas follow",
    ]);
  }
  return faults;
}

function described(about: {
  readonly rows: number;
  readonly hosts: number;
  readonly voids: number;
  readonly deltas: number;
  readonly years?: Years;
  readonly periods?: number;
  readonly bytes: number;
}): string {
  const parts = [
    formatAmount(about.rows, "row"),
    formatAmount(about.hosts, "host"),
    ...(about.voids > 0 ? [formatAmount(about.voids, "void")] : []),
    ...(about.deltas > 0 ? [formatAmount(about.deltas, "delta")] : []),
    ...(about.years === undefined
      ? []
      : [`years ${about.years.join(" to ")} in ${formatAmount(about.periods ?? 0, "period")}`]),
    formatSize(about.bytes),
  ];
  return `a packed map, ${parts.join(", ")}`;
}
