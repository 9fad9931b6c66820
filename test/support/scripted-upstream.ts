import type { Upstream, UpstreamAnswer, UpstreamRequest } from "../../src/aggregate/upstream.ts";
import { MementoMapError } from "../../src/errors.ts";

/** What an archive of a test answers; a function may take its time, or fail. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | readonly string[];
  readonly url?: string;
  readonly origin?: UpstreamAnswer["origin"];
  /** Thrown after the body. */
  readonly error?: Error;
}

export type Script = (
  request: UpstreamRequest,
) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** Asks no network: answers as a test says, and 404 where it says nothing. */
export class ScriptedUpstream implements Upstream {
  readonly requests: UpstreamRequest[] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  async ask(request: UpstreamRequest): Promise<UpstreamAnswer> {
    this.requests.push(request);
    const aborted = new Promise<never>((_resolve, reject) => {
      request.signal?.addEventListener("abort", () => reject(request.signal?.reason));
    });
    const answer = (await Promise.race([this.#script(request), aborted])) ?? { status: 404 };
    const { status = 200, headers = {}, body = "", url = request.url, origin = "network" } = answer;
    let length = 0;
    return {
      status,
      url,
      headers: { get: (name) => headers[name] },
      origin,
      read(take) {
        for (const chunk of typeof body === "string" ? [body] : body) {
          length += chunk.length;
          if (length > request.maxBytes) {
            return Promise.reject(new MementoMapError("MM_LIMIT", "the body is too long"));
          }
          take(new TextEncoder().encode(chunk));
        }
        return answer.error === undefined ? Promise.resolve() : Promise.reject(answer.error);
      },
      discard: () => undefined,
    };
  }

  stateOf(): ReturnType<Upstream["stateOf"]> {
    return {
      health: "awake",
      consecutiveFailures: 0,
      dormantUntil: undefined,
      lastFailure: undefined,
      requestsUnderWay: 0,
      requestsWaiting: 0,
      endpoints: { timemap: undefined, timegate: undefined },
      concurrency: 16,
    };
  }

  isDormant(): boolean {
    return false;
  }
}

/** A TimeMap in link-format, of mementos given by their fourteen digits. */
export function linkTimeMap(
  original: string,
  prefix: string,
  datetimes: readonly string[],
  more: string = "",
): string {
  const mementos = datetimes.map((digits) => {
    const [, ...parts] = /^(....)(..)(..)(..)(..)(..)$/.exec(digits) ?? [];
    const [year, month, day, hour, minute, second] = parts.map(Number);
    const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
    return `<${prefix}${digits}/${original}>; rel="memento"; datetime="${date.toUTCString()}"`;
  });
  return [`<${original}>; rel="original"`, ...mementos, ...(more === "" ? [] : [more])].join(",\n");
}
