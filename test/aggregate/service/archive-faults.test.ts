import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import {
  aggregating,
  type LocalArchive,
  localArchive,
  plainArchive,
} from "../../support/aggregating.ts";
import { scriptedServer } from "../../support/scripted-server.ts";
import { linkTimeMap } from "../../support/scripted-upstream.ts";

const URI = "http://example.org/a";
const TYPE = { "Content-Type": "application/link-format" };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Writes without end, as fast as it is read; counts what it wrote. */
function flood(counter: { bytes: number }, most: number): Answer {
  return (_request, response) => {
    response.writeHead(200, TYPE);
    const block = Buffer.from(`<http://a/${"x".repeat(300)}>; rel="other",\n`.repeat(200));
    const write = (): void => {
      while (counter.bytes < most && !response.destroyed) {
        counter.bytes += block.length;
        if (!response.write(block)) {
          response.once("drain", write);
          return;
        }
      }
      response.end();
    };
    write();
  };
}

async function answerBeside(
  bad: LocalArchive,
  deadlineMs: number = 400,
): Promise<{ status: number; count: string | null; missing: string | null; ms: number }> {
  const good = await plainArchive("good", ["20150101000000"]);
  const { url } = await aggregating([bad, good], {
    aggregator: { aggregator: { deadlineMs }, upstream: { limits: { maxBytes: 8 * 2 ** 20 } } },
    listen: { limits: { graceMs: 10 } },
  });
  const startedAt = performance.now();
  const answer = await fetch(`${url}/timemap/link/${URI}`);
  const ms = performance.now() - startedAt;
  const text = await answer.text();
  expect(text.match(/rel="[a-z ]*memento"/g)).toHaveLength(1);
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  const missing = answer.headers.get("x-mementomap-missing");
  return { status: answer.status, count: answer.headers.get("x-memento-count"), missing, ms };
}

describe("an archive that misbehaves", () => {
  const body = linkTimeMap(URI, "http://bad.example/", ["20140101000000"]);
  it.each<[string, Answer, string]>([
    ["hangs", () => undefined, "bad;pending"],
    [
      "hangs in the middle",
      (_request, response) => {
        response.writeHead(200, TYPE).write(body);
      },
      "bad;pending",
    ],
    ["resets", (request) => request.socket.resetAndDestroy(), "bad;reset"],
    [
      "promises more than it sends",
      (_request, response) => {
        response.writeHead(200, { ...TYPE, "Content-Length": body.length + 1000 });
        response.write(body, () => response.destroy());
      },
      "bad;reset",
    ],
    [
      "answers with a page for people",
      (_request, response) => {
        response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Sorry</h1>, we are down");
      },
      "bad;bad-timemap",
    ],
    ["is broken", (_request, response) => void response.writeHead(500).end(), "bad;status-500"],
    [
      "leads to a private address",
      (_request, response) => {
        response.writeHead(302, { Location: "http://169.254.169.254/latest/meta-data/" }).end();
      },
      "bad;private-address",
    ],
  ])("%s: the others' answers arrive in time", async (_what, answer, missing) => {
    const bad = await localArchive("bad", answer);
    const outcome = await answerBeside(bad);
    expect(outcome).toMatchObject({ status: 200, count: "1", missing });
    expect(outcome.ms).toBeLessThan(3000);
  });

  it("sends 1 GB: it is cut off soon, and memory stays where it was", async () => {
    const counter = { bytes: 0 };
    const bad = await localArchive("bad", flood(counter, 2 ** 30));
    const before = process.memoryUsage().rss;
    const outcome = await answerBeside(bad, 20_000);
    expect(outcome).toMatchObject({ status: 200, count: "1", missing: "bad;body-limit" });
    expect(counter.bytes).toBeLessThan(64 * 2 ** 20);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  it("names a page on another server of this machine: nothing is asked there", async () => {
    const secret = await scriptedServer((_request, response) => void response.end("secret"));
    const naming = await localArchive("bad", (_request, response) => {
      response.writeHead(200, TYPE);
      response.end(`<${secret.url}/page>; rel="next"; type="application/link-format"`);
    });
    expect(await answerBeside(naming)).toMatchObject({ missing: "bad;private-address" });
    expect(secret.requests).toEqual([]);
  });

  it("names mementos at private addresses: they are not passed on", async () => {
    const secret = await scriptedServer((_request, response) => void response.end("secret"));
    const bad = await localArchive("bad", (_request, response) => {
      const link = linkTimeMap(URI, `${secret.url}/web/`, ["20150101000000"]).replaceAll("\n", " ");
      response.writeHead(302, { Link: link, Location: "/" }).end();
    });
    const { url } = await aggregating([bad]);
    const answer = await fetch(`${url}/memento/proxy/201502/${URI}`);
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining("private")]);
    expect(secret.requests).toEqual([]);
  });

  it("captured a redirect: that is passed on, and not followed to the web of today", async () => {
    const today = await scriptedServer((_request, response) => void response.end("today"));
    const one = await localArchive("one", (request, response) => {
      const { host = "" } = request.headers;
      if (request.url?.startsWith("/timegate/")) {
        const link = linkTimeMap(URI, `http://${host}/web/`, ["20150101000000"]).replaceAll(
          "\n",
          " ",
        );
        response.writeHead(302, { Link: link, Location: "/" }).end();
      } else if (request.url === `/web/20150101000000id_/${URI}`) {
        response.writeHead(302, { Location: `/web/20150102000000id_/${URI}` }).end();
      } else {
        response.writeHead(301, { Location: today.url }).end();
      }
    });
    const { url } = await aggregating([one]);
    const answer = await fetch(`${url}/memento/proxy/201502/${URI}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([301, today.url]);
    expect(one.requests.map(({ target }) => target).slice(1)).toEqual([
      `/web/20150101000000id_/${URI}`,
      `/web/20150102000000id_/${URI}`,
    ]);
    expect(today.requests).toEqual([]);
  });

  it("sends header-breaking URIs: the answer stays whole", async () => {
    const odd = 'http://a.example/web/20150101000000/é\u0001"x';
    const one = await localArchive("one", (_request, response) => {
      response.writeHead(200, TYPE);
      response.end(`<${odd}>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"`);
    });
    const gate = await localArchive("gate", (_request, response) => {
      const link = `<http://a.example/é"x>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"`;
      response.writeHead(302, { Link: link, Location: "/" }).end();
    });
    const { url } = await aggregating([one, gate]);
    const answer = await fetch(`${url}/timemap/json/${URI}`, {
      headers: { Prefer: "archives=one" },
    });
    expect(await answer.json()).toMatchObject({ mementos: { list: [{ uri: odd }] } });
    const redirect = await fetch(`${url}/timegate/${URI}`, {
      headers: { Prefer: "archives=gate" },
      redirect: "manual",
    });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([
      302,
      expect.stringMatching(/^http:\/\/a\.example\/[!-~]+%22x$/),
    ]);
  });

  it("is passed on whole, or visibly not: what is cut off or too long", async () => {
    const sized = (path: string): number => Number(/\d+$/.exec(path)?.[0] ?? 0);
    const one = await localArchive("one", (request, response) => {
      const { url = "", headers } = request;
      if (url.startsWith("/timegate/")) {
        const original = url.slice("/timegate/".length);
        const prefix = `http://${headers.host ?? ""}/web/`;
        const link = linkTimeMap(original, prefix, ["20150101000000"]).replaceAll("\n", " ");
        response.writeHead(302, { Link: link, Location: "/" }).end();
      } else {
        response.writeHead(200, url.includes("chunked") ? {} : { "Content-Length": sized(url) });
        response.end(Buffer.alloc(sized(url)));
      }
    });
    const { url } = await aggregating([one], { service: { maxProxyBytes: 100_000 } });
    const whole = await fetch(`${url}/memento/proxy/201502/http://a/100000`);
    expect((await whole.arrayBuffer()).byteLength).toBe(100_000);
    expect((await fetch(`${url}/memento/proxy/201502/http://a/100001`)).status).toBe(502);
    const cut = await fetch(`${url}/memento/proxy/201502/http://a/chunked/200000`);
    await expect(cut.arrayBuffer()).rejects.toThrow("terminated");
  });
});

describe("an archive that fails again and again", () => {
  it("is not asked for a while, and the state is visible", async () => {
    const bad = await localArchive(
      "bad",
      (_request, response) => void response.writeHead(503).end(),
    );
    const good = await plainArchive("good", []);
    const { url } = await aggregating([bad, good], {
      aggregator: { upstream: { tolerance: 3 } },
    });
    for (let i = 0; i < 5; i++) await fetch(`${url}/timemap/link/${URI}${i}`);
    expect(bad.requests).toHaveLength(3);
    const { headers } = await fetch(`${url}/timemap/link/${URI}`);
    expect([headers.get("x-mementomap-missing"), headers.get("cache-control")]).toEqual([
      "bad;dormant",
      "public, max-age=60",
    ]);
    expect(good.requests).toHaveLength(6);
    const about = (await (await fetch(`${url}/about.json`)).json()) as { archives: object[] };
    expect(about.archives[0]).toMatchObject({
      health: "dormant",
      consecutiveFailures: 3,
      errors: 3,
    });
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'mementomap_archive_awake{archive="bad"} 0',
    );
    const route = (await (await fetch(`${url}/route/${URI}`)).json()) as { archives: object[] };
    expect(route.archives).toContainEqual(
      expect.objectContaining({ id: "bad", reason: "dormant" }),
    );
  });
});

describe("a client that goes away", () => {
  it("holds no place; what the archive answers is kept for the next", async () => {
    const held: ServerResponse[] = [];
    const slow = await localArchive("slow", (_request, response) => void held.push(response));
    const { url } = await aggregating([slow], { listen: { limits: { graceMs: 10 } } });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(`GET /timemap/link/${URI} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await expect.poll(() => slow.requests.length).toBe(1);
    socket.destroy();
    held[0]?.end(linkTimeMap(URI, "http://s/", ["20140101000000"]));
    const { headers } = await fetch(`${url}/timemap/link/${URI}`);
    expect(headers.get("x-memento-count")).toBe("1");
    expect(slow.requests).toHaveLength(1);
  });
});

it("an archive that redirects to a name that does not resolve misses from the answer", async () => {
  const lost = await localArchive("lost", (_request, response) => {
    response.writeHead(302, { Location: "http://no-such-host.invalid/timemap" }).end();
  });
  const { url } = await aggregating([lost, await plainArchive("good", ["20150101000000"])]);
  for (let round = 0; round < 3; round++) {
    const { status, headers } = await fetch(`${url}/timemap/link/${URI}${round}`);
    expect([status, headers.get("x-mementomap-missing")]).toEqual([200, "lost;dns"]);
  }
});

/** Bytes of a path as the header has them, one character each, and the path that they mean. */
describe.each([
  ["a byte of Latin-1", "caf\u00e9", "caf%E9"],
  ["bytes of UTF-8", "caf\u00c3\u00a9", "caf%C3%A9"],
  ["what is escaped", "caf%e9", "caf%e9"],
])("a Location with %s", (_name, sent, path) => {
  it("leads to that path", async () => {
    const archive = await localArchive("a", ({ url = "" }, response) => {
      if (url.startsWith("/timemap/")) response.writeHead(302, { Location: `/moved/${sent}` });
      response.end(linkTimeMap(URI, "http://a/", ["20150101000000"]));
    });
    const { url } = await aggregating([archive]);
    expect(await (await fetch(`${url}/timemap/link/${URI}`)).text()).toContain("2015");
    expect(archive.requests.map(({ target }) => target)).toContain(`/moved/${path}`);
  });

  it("is the memento that a TimeGate names", async () => {
    const archive = await localArchive("a", ({ headers }, response) => {
      const memento = `http://${headers.host}/web/20150101000000/${URI}${sent}`;
      response.writeHead(302, { Location: memento }).end();
    });
    const { url } = await aggregating([archive]);
    const { headers } = await fetch(`${url}/timegate/${URI}`, { redirect: "manual" });
    expect(headers.get("location")).toBe(`${archive.url}/web/20150101000000/${URI}${path}`);
  });
});
