import { Asker, type AskOptions } from "../../src/aggregate/ask/ask.ts";
import type { Client, GetRequest, TakeBody } from "../../src/http/client.ts";
import type { ResponseHead } from "../../src/http/http-client.ts";

/** The response of a test archive; a function may be slow or fail. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | readonly string[];
  readonly url?: string;
  /** Thrown after the body. */
  readonly error?: Error;
}

export type Script = (
  request: GetRequest,
) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** An upstream without a network: returns scripted responses, and 404 otherwise. */
class ScriptedClient implements Client {
  readonly requests: GetRequest[] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  async get(request: GetRequest, take: TakeBody): Promise<ResponseHead> {
    this.requests.push(request);
    const answer = (await this.#script(request)) ?? { status: 404 };
    const { status = 200, headers = {}, body = "", url = request.url } = answer;
    const head = { status, url, headers: { get: (name: string) => headers[name] } };
    const sink = take(head);
    for (const chunk of typeof body === "string" ? [body] : body) {
      sink?.(new TextEncoder().encode(chunk));
    }
    if (answer.error !== undefined) throw answer.error;
    return head;
  }

  close(): void {
    // No open connections.
  }
}

/** An asker of archives with scripted responses. */
export function scriptedUpstream(
  script: Script,
  options: AskOptions = {},
): { upstream: Asker; requests: readonly GetRequest[] } {
  const client = new ScriptedClient(script);
  return { upstream: new Asker(client, options), requests: client.requests };
}

/** A TimeMap in link-format, with mementos at 14-digit datetimes. */
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
