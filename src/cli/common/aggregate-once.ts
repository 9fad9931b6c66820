import type { Aggregation } from "../../aggregate/aggregator.ts";
import { isWhole } from "../../aggregate/session.ts";
import { originalUri } from "../../aggregate/service/request-target.ts";
import { formatAmount, MementoMapError } from "../../errors.ts";
import { parsePaddedDatetime } from "../../memento/datetime.ts";
import type { TimeMapDocument } from "../../memento/timemap-document.ts";
import { describeMemento, writeTimeMap } from "../../memento/write-timemap.ts";
import { SILENT_LOG } from "../../http/log.ts";
import { pathPrefix } from "../../http/target.ts";
import { type AggregateValues, setUpAggregator } from "./aggregate-setup.ts";
import { parseDatetime } from "./datetime.ts";
import { ExitCode, type Io, writeBytes } from "./io.ts";
import { routeWishes } from "./listed-archives.ts";
import { formatDuration } from "./sizes.ts";

/** Asks archives once: writes a TimeMap, or with a datetime what is closest to it. */
export async function aggregateOnce(
  values: AggregateValues & { readonly json: boolean; readonly quiet: boolean },
  io: Io,
  uri: string,
  datetimeText: string | undefined,
): Promise<ExitCode> {
  const original = originalUri(asciiUri(uri));
  const datetime =
    datetimeText === undefined ? undefined : parsePaddedDatetime(parseDatetime(datetimeText));
  const startedAt = io.now();
  // Nobody is there to learn from samples.
  const setUp = await setUpAggregator({ ...values, sample: 0 }, io, { log: SILENT_LOG });
  try {
    if (!values["no-routing"]) await within(values.timeout, setUp.open.keeper.fetched());
    const { aggregator } = setUp.open;
    const request = { ...routeWishes(values), uri: original, signal: io.interrupt.signal };
    const aggregation = await (datetime === undefined
      ? aggregator.timeMap(request)
      : aggregator.timeGate({ ...request, datetime }));
    if (aggregation.mementos.count > 0) await write(aggregation, values, io, datetime);
    if (!values.quiet) io.stderr.write(`${summaryOf(aggregation, io.now() - startedAt)}\n`);
    return exitCodeOf(aggregation);
  } finally {
    await setUp.close();
  }
}

/** Waits for maps, but not for ever: without its map an archive is asked. */
async function within(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, over]);
  clearTimeout(timer);
}

async function write(
  { original, mementos }: Aggregation,
  values: AggregateValues & { readonly json: boolean },
  io: Io,
  datetime: number | undefined,
): Promise<void> {
  const base = values.base ?? `http://localhost:${values.port}`;
  const service = `${base.replace(/\/+$/, "")}${pathPrefix(values.root)}`;
  const document: TimeMapDocument = { original, service, mementos };
  const format = values.json ? "json" : values.format;
  if (datetime !== undefined) {
    const closest = mementos.closest(datetime);
    await writeBytes(io.stdout, describeMemento(document, format, closest));
    return;
  }
  for (const block of writeTimeMap(document, format)) await writeBytes(io.stdout, block);
}

/** Nothing found is a no, unless nobody answered at all. */
function exitCodeOf({ mementos, outcomes }: Aggregation): ExitCode {
  if (mementos.count > 0) return ExitCode.ok;
  const isAnswered = ({ result }: (typeof outcomes)[number]): boolean => result === "miss";
  if (outcomes.length === 0 || outcomes.some(isAnswered)) return ExitCode.negative;
  const [first] = outcomes;
  throw new MementoMapError(
    "MM_HTTP",
    `none of ${formatAmount(outcomes.length, "archive")} answered; ${first.archive.id}: ${first.fault ?? `status ${first.status}`}`,
  );
}

/** `42 mementos: ia 40, loc 2; 3 archives asked, 9 spared; no answer: pt (late); 1.2 s` */
function summaryOf({ mementos, outcomes, decisions }: Aggregation, ms: number): string {
  const hits = outcomes
    .filter(({ result }) => result === "hit")
    .map(({ archive, mementos: count }) => `${archive.id} ${count}`);
  const missing = outcomes
    .filter((outcome) => !isWhole(outcome))
    .map(({ archive, fault, status }) => `${archive.id} (${fault ?? `status ${status}`})`);
  const spared = decisions.length - outcomes.length;
  return [
    `${formatAmount(mementos.count, "memento")}${hits.length === 0 ? "" : `: ${hits.join(", ")}`}`,
    `${formatAmount(outcomes.length, "archive")} asked${spared === 0 ? "" : `, ${spared} spared`}`,
    ...(missing.length === 0 ? [] : [`no whole answer: ${missing.join(", ")}`]),
    formatDuration(ms),
  ].join("; ");
}

/** What is typed may have any characters; requests have ASCII, others as the bytes of UTF-8. */
function asciiUri(text: string): string {
  return text.replaceAll(/[^\u0021-\u007e]+/gu, encodeURIComponent);
}
