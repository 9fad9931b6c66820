import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { serveOnLoopback } from "../support/http-server.ts";
import { rawExchange } from "../support/raw-http.ts";
import { linkTimeMap } from "../support/scripted-upstream.ts";
import { scratchDir } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { ask, type Attacked, attacked, bystander, getting, lasting, unread } from "./attacked.ts";

const LINK = { "Content-Type": "application/link-format" };
const TIMEMAP = "/timemap/link/";
const MAP_HEAD =
  '!context ["https://git.io/mementomap"]\n!fields {"keys":["surt"],"values":["frequency"]}\n';

/** An archive that says of each original what `answer` does; 404 where that does nothing. */
async function archive(
  id: string,
  answer: (original: string, response: ServerResponse) => boolean,
): Promise<{ readonly id: string; readonly name: string; readonly timemap: string }> {
  const home = await serveOnLoopback((_url, response, { url = "" }) => {
    const original = url.startsWith(TIMEMAP) ? url.slice(TIMEMAP.length) : url;
    if (!answer(original, response)) response.writeHead(404).end();
  });
  return { id, name: id, timemap: home + TIMEMAP };
}

/** One that holds what has the word in its URI. */
function holder(id: string, word: string): ReturnType<typeof archive> {
  return archive(id, (original, response) => {
    if (!original.includes(word)) return false;
    const prefix = `http://${id}.example/web/`;
    response.writeHead(200, LINK).end(linkTimeMap(original, prefix, ["20150101000000"]));
    return true;
  });
}

function serving(archives: readonly object[], more: readonly string[] = []): Promise<Attacked> {
  const list = join(scratchDir(), "archives.json");
  writeFileSync(list, JSON.stringify(archives));
  const proxy = ["--trust-proxy", "loopback"];
  return attacked(["aggregate", "--serve", "-a", list, ...proxy, ...more]);
}

function from(address: string, more: Readonly<Record<string, string>> = {}) {
  return { headers: { "X-Forwarded-For": address, ...more } };
}

/** What a proxy says of a client. */
const ATTACKER = "X-Forwarded-For: 203.0.113.9\r\n";
const HONEST = "/timemap/link/http://honest.example/";
const honest = (): ReturnType<typeof archive> => holder("honest", "honest");

describe("aggregate --serve goes on answering others", () => {
  it("while an archive answers with TimeMaps of 3.6 million mementos", async () => {
    const link = '<http://a.b/>;rel=memento;datetime="Thu, 01 Jan 2015 00:00:00 GMT",\n';
    const part = gzipSync(link.repeat(360_000));
    const bomb = Buffer.concat(Array.from({ length: 10 }, () => part));
    const bombs = await archive("bombs", (original, response) => {
      if (!original.includes("bomb")) return false;
      response.writeHead(200, { ...LINK, "Content-Encoding": "gzip" }).end(bomb);
      return true;
    });
    const service = await serving([bombs, await honest()], ["--timeout", "20s"]);
    const attack = (): Promise<unknown> =>
      Promise.all(
        Array.from({ length: 40 }, (_, number) =>
          ask(service, `/summary/http://bomb${number}.example/`, { timeoutMs: 60_000 }),
        ),
      );
    await bystander(service, "H4: 40 TimeMaps of 240 MB", attack, [HONEST]);
  });

  it("while a map of 2.3 MB unpacks to 1.5 GB", async () => {
    const rows = Array.from({ length: 1500 }, (_, number) =>
      gzipSync(`com,${String(number).padStart(4, "0")}${"a".repeat(1_000_000)})/ 1\n`),
    );
    const map = Buffer.concat([gzipSync(MAP_HEAD), ...rows]);
    const liar = await archive("liar", (path, response) => {
      if (path !== "/map.ukvs.gz") return false;
      response.writeHead(200, { "Content-Type": "application/gzip" }).end(map);
      return true;
    });
    const mementomap = new URL("/map.ukvs.gz", liar.timemap).href;
    const service = await serving([{ ...liar, mementomap }, await honest()]);
    await bystander(service, "H6: a map of 1.5 GB", () => lasting(6000), [HONEST]);
  });

  it.each([
    ["Prefer", `Prefer: a${" ".repeat(60_000)}"\r\n`],
    ["Prefer", `Prefer: archives=${" ".repeat(60_000)}"ok"\r\n`],
    ["Cache-Control", `Cache-Control: ${" ".repeat(60_000)}x\r\n`],
    ["Accept-Datetime", `Accept-Datetime: ${"(".repeat(60_000)}x\r\n`],
    ["X-Forwarded-Prefix", `X-Forwarded-Prefix: ${"/".repeat(60_000)}x\r\n`],
    ["X-MemGator-Archive-Filter", `X-MemGator-Archive-Filter: ${"!,".repeat(30_000)}x\r\n`],
  ])("while long headers come: %s", async (name, header) => {
    const service = await serving([await honest()]);
    const attack = async (): Promise<void> => {
      for (const path of ["/health", HONEST, "/timegate/http://honest.example/"]) {
        const request = getting(path, `${header}Connection: close\r\n`);
        for (let i = 0; i < 5; i += 1) await rawExchange(service.url, request);
      }
    };
    await bystander(service, `M1: ${name}`, attack, [HONEST]);
  });

  it.each([
    ["stars", `http://a.com${"/*".repeat(4080)}`],
    ["labels", `http://%2C.${"a.".repeat(4070)}com/`],
    ["folders", `http://a.com/${"a/".repeat(4080)}`],
  ])("while long URIs are looked up in a text map: %s", async (name, uri) => {
    const map = join(scratchDir(), "map.ukvs");
    writeFileSync(map, `${MAP_HEAD}com,b)/* 3\n`);
    const service = await serving([{ ...(await honest()), mementomap: map }]);
    const attack = async (): Promise<readonly number[]> => {
      const statuses = [];
      for (let i = 0; i < 10; i += 1) {
        for (const path of ["/timemap/link/", "/route/", "/?url="]) {
          statuses.push((await ask(service, path + uri)).status);
        }
      }
      return statuses;
    };
    const statuses = await bystander(service, `H2: ${name}`, attack);
    for (const status of statuses) expect([200, 404]).toContain(status);
  });

  it("while a map is fetched whose head has 250 kB of blanks", async () => {
    const map = `${MAP_HEAD}!a${" ".repeat(250_000)}x\v\ncom,a)/ 1\n`;
    const liar = await archive("liar", (path, response) => {
      if (path !== "/map.ukvs") return false;
      response.writeHead(200, { "Content-Type": "text/plain" }).end(map);
      return true;
    });
    const mementomap = new URL("/map.ukvs", liar.timemap).href;
    const service = await serving([{ ...liar, mementomap }, await honest()]);
    await bystander(service, "M8: the head of a map", () => lasting(3000), [HONEST]);
  });

  it("while an archive redirects to hosts that do not exist", async () => {
    const one = await archive("one", (original, response) => {
      if (!original.includes("gone")) return false;
      response.writeHead(302, { Location: "http://gone.invalid/" }).end();
      return true;
    });
    const service = await serving([one]);
    for (let i = 0; i < 12; i += 1) await ask(service, `/timemap/link/http://gone.example/${i}`);
    const { headers } = await ask(service, HONEST);
    expect(headers["x-mementomap-missing"]).toBeUndefined();
  });

  it("while clients do not read long TimeMaps", async () => {
    const dates = Array.from({ length: 60_000 }, (_, number) => {
      const day = new Date(Date.UTC(1996, 0, 1) + number * 3_600_000 * 4);
      return day.toISOString().replaceAll(/\D/g, "").slice(0, 14);
    });
    const large = await archive("large", (original, response) => {
      if (!original.includes("large")) return false;
      response.writeHead(200, LINK).end(linkTimeMap(original, "http://large.example/web/", dates));
      return true;
    });
    const service = await serving([large, await honest()]);
    const attack = async (): Promise<void> => {
      const paths = ["/timemap/link/", "/timemap/json/", "/stream/"];
      unread(service, 300, (number) =>
        getting(`${paths[number % 3] ?? ""}http://large.example/${number % 5}`),
      );
      await lasting(8000);
    };
    await bystander(service, "M3: 300 readers of TimeMaps, unread", attack, [HONEST]);
  });

  it("while clients do not read mementos through /memento/proxy", async () => {
    const body = Buffer.alloc(30_000_000, "a");
    const large = await archive("large", (original, response) => {
      if (original.includes("/web/")) {
        response.writeHead(200, { "Content-Type": "text/html" });
        response.end(original.includes("large") ? body : "small");
        return true;
      }
      const { host = "" } = response.req.headers;
      const prefix = `http://${host}/web/`;
      response.writeHead(200, LINK).end(linkTimeMap(original, prefix, ["20150101000000"]));
      return true;
    });
    const service = await serving([large]);
    const small = "/memento/proxy/2015/http://small.example/";
    const attack = async (): Promise<void> => {
      unread(service, 100, (number) =>
        getting(`/memento/proxy/2015/http://large.example/${number}`, ATTACKER),
      );
      await lasting(5000);
      expect(await ask(service, small)).toMatchObject({ status: 200, body: "small" });
    };
    await bystander(service, "M4: 100 readers of mementos, unread", attack, [small]);
  });

  it("while one client opens 150 streams of /monitor", async () => {
    const service = await serving([await honest()], ["--monitor"]);
    const attack = async (): Promise<void> => {
      unread(service, 150, () => getting("/monitor", ATTACKER));
      await lasting(2000);
      const request = getting("/monitor", "X-Forwarded-For: 198.51.100.7\r\n");
      const socket = unread(service, 1, () => request)[0];
      let answer = "";
      socket?.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1"))).resume();
      await until(() => answer.includes("\r\n"));
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
    };
    await bystander(service, "L8: 150 listeners of one client", attack, [HONEST]);
  });

  it.each(["[", "a:b:c", "x:99999"])("while Host is %s", async (host) => {
    const service = await serving([await honest()]);
    const attack = async (): Promise<readonly string[]> => {
      const answers = [];
      for (const path of ["/", "/about", "/about.json", HONEST]) {
        const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
        answers.push((await rawExchange(service.url, request)).slice(9, 12));
      }
      return answers;
    };
    expect(await bystander(service, `L2: Host: ${host}`, attack)).not.toContain("500");
  });
});

describe("one network teaches little", () => {
  it.each([
    [0, "lookups"],
    [100, "lookups"],
    [2000, "lookups"],
    [2000, "routing=off"],
    [20_000, "lookups"],
  ])("%i %s of pages that do not exist hide no held page", async (misses, kind) => {
    const archives = [
      await holder("a", "held"),
      await holder("b", "other"),
      await holder("c", "never"),
    ];
    const service = await serving(archives, ["--recall", "0.98"]);
    const lookup = (uri: string, client: string, more = {}): Promise<number> =>
      ask(service, `/timemap/link/${uri}`, from(client, more)).then(({ status }) => status);
    for (let i = 0; i < 1000; i += 1) {
      const word = ["held", "other", "none"][i % 3] ?? "";
      await lookup(`http://site${i % 97}.example/${word}/${i}`, `20.51.${i % 200}.1`);
    }
    const more = kind === "lookups" ? {} : { Prefer: kind };
    const attack = async (): Promise<void> => {
      for (let i = 0; i < misses; i += 1) {
        await lookup(`http://victim.example/real/x${i}`, `20.99.7.${i % 250}`, more);
      }
      await lasting(100);
    };
    await bystander(service, `H5: ${misses} ${kind}`, attack);
    let found = 0;
    for (let i = 0; i < 1000; i += 1) {
      const uri = `http://victim.example/real/held${i}`;
      if ((await lookup(uri, `20.1.${i % 200}.1`)) === 200) found += 1;
    }
    process.stdout.write(`attack: H5: ${misses} ${kind}: ${found} of 1000 held pages found\n`);
    expect(found).toBeGreaterThanOrEqual(950);
  });
});

describe("aggregate --serve", () => {
  it("shows no secret of the addresses in its list", async () => {
    const one = await honest();
    const secret = (url: string): string => url.replace("//", "//me:s3cret@");
    const mementomap = secret(new URL("/map.ukvs", one.timemap).href);
    const list = await serveOnLoopback((_url, response) => {
      response.end(JSON.stringify([{ ...one, mementomap }]));
    });
    const service = await attacked(["aggregate", "--serve", "-a", secret(`${list}/list.json`)]);
    await until(() => service.stderr().includes("map.ukvs"));
    const said = [service.stderr()];
    for (const path of ["health", "about", "about.json", "archives.json", "metrics", ""]) {
      said.push((await ask(service, `/${path}`)).body);
    }
    expect(said.filter((text) => text.includes("s3cret"))).toEqual([]);
    const timemap = { ...one, timemap: secret(one.timemap) };
    await expect(serving([timemap])).rejects.toThrow(/^(?!.*s3cret).*contains credentials/s);
  });

  it("sends URIs that are encoded as a whole as they were meant", async () => {
    const asked: string[] = [];
    const one = await archive("one", (original) => asked.push(original) === 0);
    const service = await serving([one]);
    for (const uri of ["http%3A%2F%2Fe.org%2Fcaf%C3%A9", "http%3A%2F%2Fe.org%2F%E4%B8%AD"]) {
      expect(await ask(service, `/timemap/link/${uri}`)).toMatchObject({ status: 404 });
    }
    expect(asked).toEqual(["http://e.org/caf%C3%A9", "http://e.org/%E4%B8%AD"]);
  });

  it("starts with ids that are too long for names of files", async () => {
    const one = await honest();
    const mementomap = new URL("/map.ukvs", one.timemap).href;
    const service = await serving(
      [{ ...one, id: "i".repeat(300), mementomap }],
      ["--state", scratchDir()],
    );
    expect(await ask(service, HONEST)).toMatchObject({ status: 200 });
  });

  it.each([
    ["Prefer", "routing=off"],
    ["Cache-Control", "no-cache"],
  ])("lets clients force no requests where its operator says so: %s", async (name, value) => {
    let asked = 0;
    const one = await archive("one", () => {
      asked += 1;
      return false;
    });
    const map = join(scratchDir(), "map.ukvs");
    writeFileSync(map, `!context ["https://git.io/mementomap"]\norg,example)/* 3\n`);
    const settings = join(scratchDir(), "settings.json");
    writeFileSync(settings, JSON.stringify({ "ignore-forced": true, sample: "0%" }));
    const two = { ...one, mementomap: name === "Prefer" ? map : undefined };
    const service = await serving([two], ["--config", settings]);
    const path = `/timemap/link/http://example.${name === "Prefer" ? "com" : "org"}/`;
    await ask(service, path);
    await ask(service, path, { headers: { [name]: value } });
    expect(asked).toBe(name === "Prefer" ? 0 : 1);
  });
});
