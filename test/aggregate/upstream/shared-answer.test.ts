import type { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { until } from "../../support/until.ts";
import {
  askWhole,
  drip,
  httpAnswer,
  rawArchive,
  testUpstream,
  timemapRequest,
} from "./raw-archive.ts";

/** What an archive waits for before it answers. */
class Gate {
  open: () => void = () => undefined;
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.open = resolve;
  });
}

describe("sharing", () => {
  it("makes one request of many that are the same, and as many as they differ", async () => {
    const gate = new Gate();
    const { archive, heads } = await rawArchive((socket) => {
      void gate.opened.then(() => socket.write(httpAnswer(200, "shared")));
    });
    const upstream = testUpstream();
    const same = Array.from({ length: 50 }, () => askWhole(upstream, timemapRequest(archive)));
    await until(() => upstream.counters.get("raw")?.coalesced === 49);
    gate.open();
    const answers = await Promise.all(same);
    expect(heads).toHaveLength(1);
    expect(answers.every(({ body }) => body === "shared")).toBe(true);
    expect(answers.map(({ origin }) => origin)).toEqual([
      "network",
      ...Array<string>(49).fill("coalesced"),
    ]);
    expect(upstream.counters.get("raw")).toMatchObject({ requests: 1, coalesced: 49 });
    await Promise.all([
      askWhole(upstream, timemapRequest(archive)),
      askWhole(upstream, timemapRequest(archive, { headers: { "accept-datetime": "x" } })),
      askWhole(upstream, timemapRequest(archive, { followsRedirects: false })),
      askWhole(upstream, timemapRequest(archive, { url: `${archive.timemap}y` })),
    ]);
    expect(heads).toHaveLength(5);
  });

  it("holds little more than the body, however short the pieces are that it comes in", async () => {
    const { archive } = await rawArchive((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n");
      drip(socket, "a".repeat(1000));
    });
    const upstream = testUpstream();
    const answer = await upstream.ask(timemapRequest(archive));
    await until(() => upstream.counters.get("raw")?.bytes === 1000);
    const reading = vi.fn<(chunk: Uint8Array) => void>();
    void answer.read(reading).catch(() => undefined);
    expect(reading.mock.calls.length).toBeLessThan(15);
  });

  it("gives those who come late what came before", async () => {
    let sendRest = (): void => undefined;
    const { archive, heads } = await rawArchive((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf");
      sendRest = () => void socket.write("rest");
    });
    const upstream = testUpstream();
    const first = await upstream.ask(timemapRequest(archive));
    const reading = vi.fn<(chunk: Uint8Array) => void>();
    const read = first.read(reading);
    await until(() => reading.mock.calls.length > 0);
    const asking = askWhole(upstream, timemapRequest(archive));
    sendRest();
    const late = await asking;
    await read;
    expect(late).toMatchObject({ body: "halfrest", origin: "coalesced" });
    expect(heads).toHaveLength(1);
  });

  it("lets one leave without the others noticing, and ends when all have left", async () => {
    const closed = vi.fn<() => void>();
    const gate = new Gate();
    const { archive, heads } = await rawArchive((socket, number) => {
      socket.once("close", closed);
      if (number > 0) return;
      void gate.opened.then(() => socket.write(httpAnswer(200, "shared")));
    });
    const upstream = testUpstream();
    const controllers = [new AbortController(), new AbortController()];
    const [leaving, staying] = controllers.map(({ signal }) =>
      askWhole(upstream, timemapRequest(archive, { signal })),
    );
    controllers[0]?.abort(new Error("first left"));
    await expect(leaving).rejects.toThrow("first left");
    gate.open();
    await expect(staying).resolves.toMatchObject({ body: "shared" });
    expect(closed).not.toHaveBeenCalled();
    const alone = new AbortController();
    const last = upstream.ask(timemapRequest(archive, { signal: alone.signal }));
    await until(() => heads.length === 2);
    alone.abort(new Error("all left"));
    await expect(last).rejects.toThrow("all left");
    // It has a moment for its answer, which does not come.
    await until(() => closed.mock.calls.length > 0);
    expect(upstream.stateOf(archive)).toMatchObject({
      requestsUnderWay: 0,
      consecutiveFailures: 0,
    });
  });

  it("keeps the connection when all have left, if the answer comes soon", async () => {
    let gate = new Gate();
    const { archive, heads, connections } = await rawArchive((socket, number) => {
      void gate.opened.then(() => socket.write(httpAnswer(200, `answer ${number}`)));
    });
    const upstream = testUpstream({ concurrency: 1, tolerance: 1 });
    for (let turn = 0; turn < 5; turn++) {
      const controller = new AbortController();
      const left = upstream.ask(timemapRequest(archive, { signal: controller.signal }));
      await until(() => heads.length === turn + 1);
      controller.abort(new Error("in a hurry"));
      await expect(left).rejects.toThrow("in a hurry");
      gate.open();
      await until(() => upstream.stateOf(archive).requestsUnderWay === 0);
      if (turn < 4) gate = new Gate();
    }
    const answer = await askWhole(upstream, timemapRequest(archive));
    expect(answer).toMatchObject({ body: "answer 5", origin: "network" });
    expect(connections()).toBe(1);
    expect(upstream.counters.get("raw")?.failures).toMatchObject({ aborted: 5, reset: 0 });
  });

  it("does not read all of a long answer when all have left", async () => {
    let sendFirst = (): void => undefined;
    const closed = vi.fn<() => void>();
    const sockets: Socket[] = [];
    const { archive, heads } = await rawArchive((socket, number) => {
      sockets.push(socket);
      socket.once("close", closed);
      if (number === 0) sendFirst = () => void socket.write(httpAnswer(200, "x".repeat(2 ** 20)));
      else socket.write(httpAnswer(200, "short"));
    });
    const upstream = testUpstream();
    const controller = new AbortController();
    const left = upstream.ask(timemapRequest(archive, { signal: controller.signal }));
    await until(() => heads.length === 1);
    controller.abort(new Error("in a hurry"));
    await expect(left).rejects.toThrow("in a hurry");
    sendFirst();
    await until(() => closed.mock.calls.length === 1);
    expect(upstream.stateOf(archive).requestsUnderWay).toBe(0);
    await expect(askWhole(upstream, timemapRequest(archive))).resolves.toMatchObject({
      body: "short",
    });
    // Not how many connections there are: one may be opened while the first is being closed.
    expect(sockets).toHaveLength(2);
    expect(sockets[1]).not.toBe(sockets[0]);
  });

  it("refuses a signal that was aborted before, without asking", async () => {
    const { archive, heads } = await rawArchive((socket) => void socket.write(httpAnswer(200)));
    const upstream = testUpstream();
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(upstream.ask(timemapRequest(archive, { signal }))).rejects.toThrow("too late");
    await askWhole(upstream, timemapRequest(archive));
    expect(heads).toHaveLength(1);
  });

  it("does not let a slow reader hold a fast one, nor all of a long body be kept", async () => {
    const long = 8 * 2 ** 20;
    const { archive, heads } = await rawArchive((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${long}\r\n\r\n`);
      socket.write(Buffer.alloc(long, "x"));
    });
    const upstream = testUpstream();
    const request = timemapRequest(archive, { maxBytes: 1e8 });
    const [fast, slow] = await Promise.all([upstream.ask(request), upstream.ask(request)]);
    let bytes = 0;
    await fast.read((chunk) => (bytes += chunk.length));
    expect(bytes).toBe(long);
    await expect(slow.read(() => undefined)).rejects.toMatchObject({ code: "MM_LIMIT" });
    expect(heads).toHaveLength(1);
  });

  it("passes a failure on to all", async () => {
    const { archive } = await rawArchive((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf", () => socket.destroy());
    });
    const upstream = testUpstream();
    const asked = Array.from({ length: 5 }, () => askWhole(upstream, timemapRequest(archive)));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  });
});
