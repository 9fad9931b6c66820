import {
  type ErrorCode,
  formatAmount,
  isMementoMapError,
  MementoMapError,
  quote,
} from "../errors.ts";
import type { Archive } from "./route/archive.ts";
import { asciiBytes, MementoList, sendableUri } from "../memento/memento-list.ts";
import { isRedirect, redirectTarget } from "../http/redirects.ts";
import { type FailureReason, failureReasonOf } from "../http/retry.ts";
import {
  type AnswerListener,
  listenByAsking,
  type StopSignal,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from "./upstream.ts";
import { formatHttpDate, tryParseDatetime } from "../memento/datetime.ts";
import {
  pagesToFollow,
  type TimeMapReader,
  type TimeMapReading,
} from "../memento/timemap-reading.ts";
import { readLinks, timeMapReader } from "../memento/timemap-reader.ts";

/** How much of an archive's answer is taken. */
export interface AskLimits {
  /** Bytes of one TimeMap, or of one page of it; default 256 MiB. */
  readonly maxBytes: number;
  /** Pages of one TimeMap; default 100. */
  readonly maxPages: number;
  /** Mementos of one archive; default 5 million. */
  readonly maxMementos: number;
}

export const DEFAULT_ASK_LIMITS: AskLimits = {
  maxBytes: 256 * 2 ** 20,
  maxPages: 100,
  maxMementos: 5_000_000,
};

/** What one archive is asked. */
export interface Question {
  readonly archive: Archive;
  readonly uri: string;
  readonly cacheControl: string | undefined;
  readonly signal: StopSignal;
}

/** What an archive's answer holds. */
export interface Finding {
  /** Undefined where the answer was none that holds mementos. */
  readonly mementos: MementoList | undefined;
  readonly status: number | undefined;
  readonly origin: UpstreamAnswer["origin"] | undefined;
  readonly ageSeconds: number;
  readonly code: ErrorCode | undefined;
  readonly failure: FailureReason | undefined;
  readonly fault: string | undefined;
}

/** Takes what came of asking an archive, once. Must not throw. */
export interface FindingReceiver {
  onFinding(finding: Finding): void;
}

/** What went wrong. */
export type Fault = Pick<Finding, "code" | "failure" | "fault">;

const NOTHING_FOUND: Finding = {
  mementos: undefined,
  status: undefined,
  origin: undefined,
  ageSeconds: 0,
  code: undefined,
  failure: undefined,
  fault: undefined,
};

/** What an answer says of itself, and the mementos in it. */
function findingOf(answer: UpstreamAnswer, mementos?: MementoList): Finding {
  const { status, origin, headers } = answer;
  const age = origin === "network" ? 0 : Number(headers.get("age") ?? 0);
  return {
    mementos,
    status,
    origin,
    ageSeconds: age > 0 ? Math.floor(age) : 0,
    code: undefined,
    failure: undefined,
    fault: undefined,
  };
}

/** What is found where there is no answer. */
export function failedFinding(fault: Fault): Finding {
  return { ...NOTHING_FOUND, ...fault };
}

/** Whether it is known what the archive has. */
export function isAnswered({ mementos, code, status }: Finding): boolean {
  return mementos !== undefined || (code === undefined && status === 404);
}

/** What an error says. */
export function faultOf(error: unknown): Fault {
  return {
    code: isMementoMapError(error) ? error.code : "MM_HTTP",
    failure: failureReasonOf(error),
    fault: error instanceof Error ? error.message : String(error),
  };
}

/** What is sent with a question; undefined for nothing, which is the usual and costs nothing. */
function headersOf(
  { cacheControl }: Question,
  more?: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  return cacheControl === undefined ? more : { ...more, "cache-control": cacheControl };
}

/*
 * An archive has a TimeMap and a TimeGate. Each may be missing, or broken while the other works, so
 * that one answers for the other where it can.
 */

/**
 * Asks an archive for all mementos of an original: its TimeMap. Where the list of archives names
 * none, the TimeGate is asked for its address.
 */
export function askForAll(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  receiver: FindingReceiver,
): void {
  const { timemap, timegate } = question.archive;
  if (timemap !== undefined) {
    new TimeMapRequest(upstream, question, limits, timemap + question.uri, receiver).send();
  } else if (timegate === undefined) {
    receiver.onFinding(NO_ENDPOINT);
  } else {
    void attempt(() => askByTimeGate(upstream, question, limits, timegate)).then((finding) =>
      receiver.onFinding(finding),
    );
  }
}

async function askByTimeGate(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  timegate: string,
): Promise<Finding> {
  const finding = await askTimeGate(upstream, question, LATEST, timegate);
  if (finding.timemap !== undefined) {
    return askTimeMap(upstream, question, limits, finding.timemap);
  }
  if (finding.mementos === undefined) return finding;
  const fault = "it has no TimeMap; its TimeGate names these mementos, and may know more";
  return { ...finding, code: "MM_NOT_FOUND", failure: "no-endpoint", fault };
}

/**
 * Asks an archive for the mementos around a moment: its TimeGate, or its TimeMap where the TimeGate
 * is missing or of no use.
 */
export function askForClosest(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  datetime: number,
  receiver: FindingReceiver,
): void {
  const { timegate } = question.archive;
  if (timegate === undefined) {
    askForAll(upstream, question, limits, receiver);
    return;
  }
  void askAround(upstream, question, limits, datetime, timegate).then((finding) =>
    receiver.onFinding(finding),
  );
}

/** Never rejects. */
async function askAround(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  datetime: number,
  timegate: string,
): Promise<Finding> {
  const { timemap } = question.archive;
  const found = await attempt(() => askTimeGate(upstream, question, datetime, timegate));
  if (isAnswered(found) || timemap === undefined || question.signal.aborted) return found;
  const isWorthAsking = found.failure === undefined || !ALSO_OF_TIMEMAP.has(found.failure);
  // What is kept costs the archive nothing, whatever is wrong with it.
  const cacheControl = isWorthAsking ? question.cacheControl : "only-if-cached";
  const instead = { ...question, cacheControl };
  const all = await askTimeMap(upstream, instead, limits, timemap + question.uri);
  return isAnswered(all) ? all : found;
}

/** What is wrong with the TimeGate for these reasons is wrong with the TimeMap too, most likely. */
const ALSO_OF_TIMEMAP: ReadonlySet<FailureReason> = new Set([
  "dns",
  "connect",
  "connect-timeout",
  "tls",
  "timeout",
  "queue-full",
  "queue-timeout",
  "bad-request",
  "local",
  "closed",
  "aborted",
]);

/** TimeGates give the last memento for it. */
const LATEST = tryParseDatetime("99991231235959") ?? 0;

const NO_ENDPOINT: Finding = {
  ...NOTHING_FOUND,
  code: "MM_NOT_FOUND",
  failure: "no-endpoint",
  fault: "it has neither a TimeMap nor a TimeGate",
};

/** A fault becomes a finding, so that something else can be tried. */
async function attempt(ask: () => Promise<Finding>): Promise<Finding> {
  try {
    return await ask();
  } catch (error) {
    return failedFinding(faultOf(error));
  }
}

/** Asks for a TimeMap; never rejects. */
function askTimeMap(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  url: string,
): Promise<Finding> {
  return new Promise((resolve) => {
    new TimeMapRequest(upstream, question, limits, url, { onFinding: resolve }).send();
  });
}

/**
 * Asks an archive for the TimeMap of an original, and for its other pages where it is cut in pages.
 *
 * A fault in a later page leaves the mementos of those before; it is told in the finding. By callbacks, as it is done
 * for a dozen archives at every lookup.
 */
class TimeMapRequest implements UpstreamRequest, AnswerListener {
  readonly archive: Archive;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly followsRedirects = true;
  readonly isCacheable = true;
  readonly maxBytes: number;
  readonly signal: StopSignal;
  readonly #upstream: Upstream;
  readonly #question: Question;
  readonly #limits: AskLimits;
  readonly #receiver: FindingReceiver;
  #answer: UpstreamAnswer | undefined;
  #reader: TimeMapReader | undefined;

  /** @param url the address of the TimeMap. */
  constructor(
    upstream: Upstream,
    question: Question,
    limits: AskLimits,
    url: string,
    receiver: FindingReceiver,
  ) {
    this.archive = question.archive;
    this.url = url;
    this.headers = headersOf(question);
    this.maxBytes = limits.maxBytes;
    this.signal = question.signal;
    this.#upstream = upstream;
    this.#question = question;
    this.#limits = limits;
    this.#receiver = receiver;
  }

  send(): void {
    const upstream = this.#upstream;
    try {
      if (upstream.listen === undefined) void listenByAsking(upstream, this, this);
      else upstream.listen(this, this);
    } catch (error) {
      this.onFail(error);
    }
  }

  onAnswer(answer: UpstreamAnswer): boolean {
    if (answer.status !== 200) {
      this.#receiver.onFinding(findingOf(answer));
      return false;
    }
    this.#answer = answer;
    this.#reader = readerOf(answer, this.#limits.maxMementos);
    return true;
  }

  onChunk(chunk: Uint8Array): void {
    this.#reader?.write(chunk);
  }

  onFail(error: unknown): void {
    const answer = this.#answer;
    const fault = faultOf(error);
    this.#receiver.onFinding(
      answer === undefined ? failedFinding(fault) : { ...findingOf(answer), ...fault },
    );
  }

  onEnd(): void {
    try {
      this.#take();
    } catch (error) {
      this.onFail(error);
    }
  }

  /** Takes the whole body. */
  #take(): void {
    const reading = this.#reader?.end();
    const answer = this.#answer;
    if (reading === undefined || answer === undefined) return; // never before there is an answer
    const pages = pagesToFollow(reading);
    if (reading.mementos.count === 0 && pages.length === 0 && !isTimeMap(reading)) {
      const has = reading.faults === 0 ? "nothing in it" : quote(reading.firstFault ?? "", 40);
      const fault = `the answer is not a TimeMap; it has ${has}`;
      this.#receiver.onFinding({
        ...findingOf(answer),
        code: "MM_BAD_INPUT",
        failure: "bad-timemap",
        fault,
      });
      return;
    }
    const mementos = resolved(reading.mementos, answer.url);
    const finding = findingOf(answer, mementos);
    if (pages.length === 0) {
      this.#receiver.onFinding(finding);
      return;
    }
    void addPages(this.#upstream, this.#question, this.#limits, {
      mementos,
      waiting: addressesOf(reading, answer.url),
      seen: new Set([this.url, answer.url]),
    }).then(
      (fault) => this.#receiver.onFinding({ ...finding, ...fault }),
      (error: unknown) => this.onFail(error),
    );
  }
}

/** Whether something without a memento says so: an empty body does not. */
function isTimeMap({ faults, original, timegate, pages }: TimeMapReading): boolean {
  const isEmpty = original === undefined && timegate === undefined && pages.length === 0;
  return faults === 0 && !isEmpty;
}

interface PagedTimeMap {
  /** What was read so far; more is added to it. */
  readonly mementos: MementoList;
  /** The addresses of pages that were named, and not asked for yet. */
  readonly waiting: string[];
  readonly seen: Set<string>;
}

/** Reads the pages one after the other; tells what went wrong, if something did. */
async function addPages(
  upstream: Upstream,
  question: Question,
  limits: AskLimits,
  { mementos, waiting, seen }: PagedTimeMap,
): Promise<Fault | undefined> {
  let pages = 1;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (seen.has(url)) continue;
    pages += 1;
    if (pages > limits.maxPages) {
      const fault = `the TimeMap has more than ${formatAmount(limits.maxPages, "page")}`;
      return { code: "MM_LIMIT", failure: "page-limit", fault };
    }
    seen.add(url);
    try {
      const answer = await askFor(upstream, question, url, limits.maxBytes);
      if (answer.status !== 200) {
        answer.discard();
        throw new MementoMapError("MM_HTTP", `a page was answered with status ${answer.status}`, {
          reason: "bad-status",
        });
      }
      const reading = await readTimeMap(answer, limits.maxMementos - mementos.count);
      mementos.append(resolved(reading.mementos, answer.url));
      waiting.push(...addressesOf(reading, answer.url));
    } catch (error) {
      if (question.signal.aborted) throw error;
      return faultOf(error);
    }
  }
  return undefined;
}

function askFor(
  upstream: Upstream,
  question: Question,
  url: string,
  maxBytes: number,
): Promise<UpstreamAnswer> {
  return upstream.ask({
    archive: question.archive,
    url,
    headers: headersOf(question),
    followsRedirects: true,
    isCacheable: true,
    maxBytes,
    signal: question.signal,
  });
}

/** @throws MM_HTTP, MM_LIMIT */
async function readTimeMap(answer: UpstreamAnswer, maxMementos: number): Promise<TimeMapReading> {
  const reader = readerOf(answer, maxMementos);
  await answer.read((chunk) => reader.write(chunk));
  return reader.end();
}

function readerOf({ headers, url }: UpstreamAnswer, maxMementos: number): TimeMapReader {
  const contentType = headers.get("content-type") ?? undefined;
  return timeMapReader({ contentType, url, maxMementos });
}

function addressesOf(reading: TimeMapReading, base: string): string[] {
  return pagesToFollow(reading).flatMap(({ uri }) => absolute(uri, base) ?? []);
}

/** TimeGates that lead to another TimeGate are followed so often. */
const MAX_STEPS = 3;
const MAX_BODY_BYTES = 65_536;

/**
 * Asks the TimeGate of an archive for the memento closest to a moment.
 *
 * Takes every memento that its `Link` headers name. Where they name none, the memento that it leads
 * to is taken, at the time in its address or in `Memento-Datetime`.
 *
 * @param timegate the address of the TimeGate, without the URI.
 * @throws MM_HTTP, MM_REFUSED or MM_BAD_URI when there is no answer.
 */
async function askTimeGate(
  upstream: Upstream,
  question: Question,
  datetime: number,
  timegate: string,
): Promise<TimeGateFinding> {
  let url = timegate + question.uri;
  const headers = headersOf(question, { "accept-datetime": formatHttpDate(datetime) });
  for (let step = 1; ; step++) {
    const answer = await upstream.ask({
      archive: question.archive,
      endpoint: "timegate",
      url,
      headers,
      followsRedirects: false,
      isCacheable: true,
      maxBytes: MAX_BODY_BYTES,
      signal: question.signal,
    });
    const finding = findingOf(answer);
    const { mementos, timemap } = linksOf(answer);
    const location = locationOf(answer, "location");
    answer.discard();
    if (mementos !== undefined) return { ...finding, mementos, timemap };
    if (location === undefined || !isRedirect(answer.status) || step === MAX_STEPS) {
      return { ...withoutMementos(finding), timemap };
    }
    url = redirectTarget(answer.url, location);
  }
}

/** What a TimeGate answered, and where it says the TimeMap is. */
interface TimeGateFinding extends Finding {
  readonly timemap: string | undefined;
}

function linksOf(answer: UpstreamAnswer): Pick<TimeGateFinding, "mementos" | "timemap"> {
  const { status, headers, url } = answer;
  if (status !== 200 && !isRedirect(status)) return { mementos: undefined, timemap: undefined };
  const link = headers.get("link");
  const reading = typeof link === "string" ? readLinks(asciiBytes(link)) : undefined;
  const page = reading?.pages.find(({ rel }) => rel === "timemap");
  const timemap = page === undefined ? undefined : absolute(page.uri, url);
  const named = reading === undefined ? undefined : resolved(reading.mementos, url);
  if (named !== undefined && named.count > 0) return { mementos: named, timemap };
  const location = locationOf(answer, status === 200 ? "content-location" : "location");
  const uri = location === undefined ? url : absolute(location, url);
  if (uri === undefined) return { mementos: undefined, timemap };
  const datetime = datetimeOf(headers.get("memento-datetime"), uri);
  const mementos = datetime === undefined ? undefined : MementoList.of([{ uri, datetime }]);
  return { mementos, timemap };
}

/** A header that is an address; its bytes are kept as they are, percent-encoded. */
function locationOf({ headers }: UpstreamAnswer, name: string): string | undefined {
  const value = headers.get(name);
  return typeof value === "string" ? sendableUri(value.trim()) : undefined;
}

/** Archives have the time of a memento in its address, if they do not say it. */
function datetimeOf(header: string | null | undefined, uri: string): number | undefined {
  const said = typeof header === "string" ? tryParseDatetime(header) : undefined;
  return said ?? tryParseDatetime(/\/(\d{14})(?:[a-z]{2}_)?\//.exec(uri)?.[1] ?? "");
}

function withoutMementos(finding: Finding): Finding {
  const { status } = finding;
  // A TimeGate that answers 200 or redirects, and has no memento to name, does not say it has none.
  if (status === undefined || (status !== 200 && !isRedirect(status))) return finding;
  const fault = "the TimeGate names no memento";
  return { ...finding, code: "MM_BAD_INPUT", failure: "no-memento", fault };
}

const ABSOLUTE = /^https?:\/\//i;

/** As it is, if it is a whole web address; else resolved; undefined when it leads elsewhere. */
function absolute(uri: string, base: string): string | undefined {
  if (ABSOLUTE.test(uri)) return uri;
  if (!URL.canParse(uri, base)) return undefined;
  const { href } = new URL(uri, base);
  return ABSOLUTE.test(href) ? href : undefined;
}

/** The list with whole addresses of the web: clients are redirected to them. */
function resolved(mementos: MementoList, base: string): MementoList {
  if (mementos.areWebAddresses) return mementos;
  const list = new MementoList();
  for (const { uri, datetime } of mementos) {
    const whole = absolute(uri, base);
    if (whole !== undefined) list.add(whole, datetime);
  }
  return list;
}
