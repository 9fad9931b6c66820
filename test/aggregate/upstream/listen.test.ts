import { describe, expect, it } from "vitest";
import {
  type AnswerListener,
  listenByAsking,
  Stop,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from "../../../src/aggregate/upstream.ts";
import { until } from "../../support/until.ts";
import { askWhole, httpAnswer, rawArchive, testUpstream, timemapRequest } from "./raw-archive.ts";

/** Notes all that it is told. */
class Noting implements AnswerListener {
  readonly events: string[] = [];
  readonly isWanted: boolean;
  body = "";
  answer: UpstreamAnswer | undefined;
  error: unknown;

  constructor(isWanted = true) {
    this.isWanted = isWanted;
  }

  get isOver(): boolean {
    return this.events.includes("end") || this.events.includes("fail");
  }

  onAnswer(answer: UpstreamAnswer): boolean {
    this.events.push(`answer ${answer.status}`);
    this.answer = answer;
    return this.isWanted;
  }

  onChunk(chunk: Uint8Array): void {
    this.events.push("chunk");
    this.body += Buffer.from(chunk).toString();
  }

  onEnd(): void {
    this.events.push("end");
  }

  onFail(error: unknown): void {
    this.events.push("fail");
    this.error = error;
  }
}

const WAYS: readonly [string, (upstream: Upstream, request: UpstreamRequest) => Noting][] = [
  ["listening", (upstream, request) => heard(upstream, request)],
  [
    "listening by asking",
    (upstream, request) => {
      const listener = new Noting();
      void listenByAsking(upstream, request, listener);
      return listener;
    },
  ],
];

function heard(upstream: Upstream, request: UpstreamRequest, isWanted = true): Noting {
  const listener = new Noting(isWanted);
  upstream.listen?.(request, listener);
  return listener;
}

describe.each(WAYS)("%s", (_name, listen) => {
  it.each([
    ["whole", httpAnswer(200, "a body")],
    ["in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"],
    ["404", httpAnswer(404, "none")],
    ["empty", httpAnswer(200, "")],
  ])("gives the same as asking: %s", async (_what, bytes) => {
    const { archive } = await rawArchive((socket) => void socket.write(bytes));
    const upstream = testUpstream();
    const { status, body } = await askWhole(upstream, timemapRequest(archive));
    const listener = listen(upstream, timemapRequest(archive));
    await until(() => listener.isOver);
    expect(listener.answer?.status).toBe(status);
    expect(listener.body).toBe(body);
    expect(listener.events.filter((event) => event !== "chunk")).toEqual([
      `answer ${status}`,
      "end",
    ]);
  });

  it("fails once: a body that is cut off, one that is too long, an archive that is not there", async () => {
    const cut = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    const { archive } = await rawArchive((socket) => void socket.end(cut));
    const upstream = testUpstream({ retries: 0 });
    const request = timemapRequest(archive);
    for (const asked of [
      request,
      { ...request, maxBytes: 3 },
      { ...request, url: "http://127.0.0.1:1/x" },
    ]) {
      const listener = listen(upstream, asked);
      await until(() => listener.isOver);
      expect(listener.events.filter((event) => event === "fail" || event === "end")).toEqual([
        "fail",
      ]);
      expect(listener.error).toMatchObject({ name: "MementoMapError" });
    }
  });

  it("fails with the reason of the signal: before it begins, before the head, within the body", async () => {
    const { archive, heads } = await rawArchive((socket, number) => {
      if (number > 0) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    const upstream = testUpstream();
    for (const moment of ["at once", "waiting", "reading"] as const) {
      const signal = new Stop();
      const reason = new Error(moment);
      if (moment === "at once") signal.abort(reason);
      const listener = listen(upstream, timemapRequest(archive, { signal }));
      if (moment === "waiting") await until(() => heads.length === 1);
      if (moment === "reading") await until(() => listener.body === "half");
      signal.abort(reason);
      await until(() => listener.isOver);
      expect(listener.events.at(-1)).toBe("fail");
      expect(String(listener.error)).toContain(moment);
    }
  });
});

describe("those who listen to the same answer", () => {
  it("need not want its body, and keep the connection", async () => {
    const { archive, connections } = await rawArchive((socket, number) => {
      socket.write(httpAnswer(404, `answer ${number}`));
    });
    const upstream = testUpstream();
    for (let turn = 0; turn < 3; turn++) {
      const listener = heard(upstream, timemapRequest(archive), false);
      await until(
        () => upstream.stateOf(archive).requestsUnderWay === 0 && listener.answer !== undefined,
      );
      expect(listener.events).toEqual(["answer 404"]);
    }
    expect(connections()).toBe(1);
  });

  it("do not disturb each other: one leaves at the head, one throws, the others get all of it", async () => {
    const upstream = testUpstream();
    const { archive, heads } = await rawArchive((socket) => {
      void until(() => upstream.counters.get("raw")?.coalesced === 3).then(() =>
        socket.write(httpAnswer(200, "shared")),
      );
    });
    const request = timemapRequest(archive);
    const first = heard(upstream, request);
    const leaving = heard(upstream, request, false);
    const throwing = new (class extends Noting {
      override onChunk(): void {
        throw new Error("not like this");
      }
    })();
    upstream.listen?.(request, throwing);
    const last = heard(upstream, request);
    await until(() => [first, throwing, last].every(({ isOver }) => isOver));
    expect(heads).toHaveLength(1);
    expect([first.body, last.body]).toEqual(["shared", "shared"]);
    expect(leaving.events).toEqual(["answer 200"]);
    expect(throwing.events).toEqual(["answer 200", "fail"]);
    expect(String(throwing.error)).toContain("not like this");
  });

  it("may end others within each call, and are told one end each", async () => {
    const upstream = testUpstream();
    const { archive } = await rawArchive((socket, number) => {
      void until(() => upstream.counters.get("raw")?.coalesced === 3 * (number + 1)).then(() =>
        socket.write(httpAnswer(200, "shared")),
      );
    });
    for (const moment of ["answer 200", "chunk", "end"]) {
      const signal = new Stop();
      const ending = (): Noting =>
        new (class extends Noting {
          override onAnswer(answer: UpstreamAnswer): boolean {
            const isWanted = super.onAnswer(answer);
            if (moment === "answer 200") signal.abort(new Error("ended"));
            return isWanted;
          }
          override onChunk(chunk: Uint8Array): void {
            super.onChunk(chunk);
            if (moment === "chunk") signal.abort(new Error("ended"));
          }
          override onEnd(): void {
            super.onEnd();
            if (moment === "end") signal.abort(new Error("ended"));
          }
        })();
      const together = [ending(), ending(), ending()];
      for (const listener of together)
        upstream.listen?.(timemapRequest(archive, { signal }), listener);
      const other = heard(upstream, timemapRequest(archive));
      await until(() => [...together, other].every(({ isOver }) => isOver));
      expect(other.events).toEqual(["answer 200", "chunk", "end"]);
      for (const { events } of together) {
        expect(events.filter((event) => event === "end" || event === "fail")).toHaveLength(1);
      }
      expect(together.filter(({ events }) => events.includes("fail")).length).toBeGreaterThan(1);
    }
  });
});
