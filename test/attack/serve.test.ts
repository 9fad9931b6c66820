import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { scratchDir } from "../support/scratch.ts";
import { rawExchange } from "../support/raw-http.ts";
import { type Attacked, ask, attacked, bystander, getting, lasting, unread } from "./attacked.ts";

/** A text map of `hosts` hosts with `pages` pages each. */
function mapOf(hosts: number, pages: number): string {
  const rows = Array.from({ length: hosts }, (_, host) =>
    Array.from(
      { length: pages },
      (_page, page) => `com,host${String(host).padStart(6, "0")})/page${page} 3\n`,
    ).join(""),
  );
  const head = `!context ["https://git.io/mementomap"]\n!fields {"keys":["surt"],"values":["frequency"]}\n`;
  return head + rows.join("");
}

function served(more: readonly string[] = [], maps = [mapOf(2000, 9)]): Promise<Attacked> {
  const folder = scratchDir();
  const paths = maps.map((map, number) => {
    const path = join(folder, `map${number}.ukvs`);
    writeFileSync(path, map);
    return path;
  });
  return attacked(["serve", ...paths, ...more]);
}

const HELD = "/lookup?url=http://host000007.com/page3";

/** Bodies that are sent with gzip. */
function batch(body: Buffer): Buffer {
  const packed = gzipSync(body);
  const head = `POST /lookup HTTP/1.1\r\nHost: a.example\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), packed]);
}

describe("serve goes on answering others", () => {
  const blanks = " ".repeat(60_000);
  it.each([
    ["Range", `Range: bytes=1-${blanks}x\r\n`, 200],
    ["Prefer", `Prefer: a${blanks}"\r\n`, 200],
    ["Accept", `Accept: text/html;q=${blanks}x\r\n`, 200],
    ["If-None-Match", `If-None-Match: ${'"a" '.repeat(15_000)}\r\n`, 200],
    ["X-Forwarded-Prefix", `X-Forwarded-Prefix: ${"/".repeat(60_000)}x\r\n`, 200],
    ["X-Forwarded-For", `X-Forwarded-For: ${"1.1.1.1, ".repeat(6500)}x\r\n`, 200],
  ])("while long headers come: %s", async (name, header, status) => {
    const service = await served(["--trust-proxy", "loopback"]);
    const lines = await bystander(service, `H1, M1, L1: ${name}`, async () => {
      const request = getting("/.well-known/mementomap", `${header}Connection: close\r\n`);
      const answers = [];
      for (let i = 0; i < 20; i += 1) answers.push(await rawExchange(service.url, request));
      return answers.map((answer) => Number(answer.slice(9, 12)));
    });
    expect(new Set(lines)).toEqual(new Set([status]));
  });

  it.each([
    ["stars", `http://a.com${"/*".repeat(29_500)}`],
    ["labels", `http://%2C.${"a.".repeat(29_000)}com/`],
    ["folders", `http://a.com/${"a/".repeat(29_000)}`],
    ["queries", `http://a.com/?${"a&".repeat(29_000)}`],
    ["percent signs", `http://a.com/${"%25".repeat(19_000)}`],
  ])("while long URIs are looked up: %s", async (name, uri) => {
    const service = await served();
    const statuses = await bystander(service, `H2: ${name}`, async () => {
      const target = `/lookup?url=${uri}`;
      const answers = [];
      for (let i = 0; i < 10; i += 1) answers.push((await ask(service, target)).status);
      const body = batch(Buffer.from(`${uri}\n`.repeat(200)));
      answers.push(Number((await rawExchange(service.url, body)).slice(9, 12)));
      return answers;
    });
    for (const status of statuses) expect([200, 400, 413, 414]).toContain(status);
  });

  it("while clients do not read pages", async () => {
    const service = await served();
    const target = `/?url=http://a.com/${"a/".repeat(4000)}`;
    const attack = async (): Promise<void> => {
      unread(service, 150, () => getting(target, "Accept: text/html\r\n"));
      await lasting(3000);
    };
    await bystander(service, "H3: 150 pages, unread", attack, [HELD]);
  });

  it("while two maps are compared in each way, for clients that have gone", async () => {
    const service = await served([], [mapOf(20_000, 9), mapOf(20_001, 9)]);
    const attack = async (): Promise<void> => {
      for (let limit = 1; limit <= 200; limit += 1) {
        const target = `/compare?map=map0&map=map1&limit=${limit}`;
        const socket = connect(service.port, "127.0.0.1");
        socket.on("error", () => undefined);
        socket.end(getting(target), () => socket.destroy());
      }
      await lasting(3000);
    };
    await bystander(service, "M5: 200 comparisons", attack, [HELD]);
  });

  it.each([
    ["40 million lines", "a.com\n", 40_000_000],
    ["250 million empty lines", "\n", 250_000_000],
  ])("while a batch unpacks to %s", async (name, line, count) => {
    const service = await served();
    const part = Buffer.from(line.repeat(1_000_000));
    const body = batch(Buffer.concat(Array.from({ length: count / 1_000_000 }, () => part)));
    const attack = async (): Promise<void> => {
      const socket = connect(service.port, "127.0.0.1");
      socket.on("error", () => undefined);
      const ended = new Promise((resolve) => socket.once("close", resolve));
      socket.resume().write(body);
      await Promise.race([ended, lasting(5000)]);
      socket.destroy();
    };
    await bystander(service, `M6: ${name}`, attack, [HELD]);
  });

  it("while connections stay idle, drip, or send half of a request", async () => {
    const service = await served();
    const half = "GET / HTTP/1.1\r\nHost: a.exam";
    const attack = async (): Promise<void> => {
      const sockets = unread(service, 1100, (number) => half.slice(0, number % half.length));
      for (let turn = 0; turn < 5; turn += 1) {
        await lasting(500);
        for (const socket of sockets) socket.write("a");
      }
    };
    await bystander(service, "L13: 1,100 idle connections", attack, [HELD]);
  });

  it("while 20 connections pipeline 1,400 requests for a map and do not read", async () => {
    const service = await served();
    const attack = async (): Promise<void> => {
      unread(service, 20, () => getting("/.well-known/mementomap").repeat(1400));
      await lasting(3000);
    };
    await bystander(service, "28,000 pipelined requests", attack, [HELD]);
  });

  it.each(["[", "a:b:c", "x:99999"])("while Host is %s", async (host) => {
    const service = await served();
    const exchanges = async (): Promise<readonly string[]> => {
      const answers = [];
      for (const path of ["/", "/maps", "/lookup?url=http://a.com/"]) {
        const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
        answers.push((await rawExchange(service.url, request)).slice(9, 12));
      }
      return answers;
    };
    const statuses = await bystander(service, `L2: Host: ${host}`, exchanges);
    expect(statuses).not.toContain("500");
    expect(service.stderr()).not.toContain("    at ");
  });
});
