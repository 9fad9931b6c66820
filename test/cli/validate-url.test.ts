import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { PUBLISHER_RULES } from "../../src/node/fetch/publisher-rules.ts";
import { runCli } from "../support/run-cli.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { copiesReady, EXAMPLE_MAP, serving } from "../support/serving.ts";

interface Line {
  readonly rule: string;
  readonly outcome: string;
  readonly message: string;
}

async function check(url: string): Promise<{ code: number; lines: Line[] }> {
  const { code, stdout } = await runCli(["validate", "--url", url, "--json", "-q"]);
  return {
    code,
    lines: stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line),
  };
}

describe("validate --url", () => {
  it("finds nothing wrong with our own server", async () => {
    const map = EXAMPLE_MAP.replace("https://archive.example.org/", "http://127.0.0.1/");
    const served = await serving(map, { pageRecords: 2 });
    await copiesReady(served);
    const { code, lines } = await check(served.url);
    expect(lines.map(({ rule }) => rule)).toEqual(Object.keys(PUBLISHER_RULES));
    // The port of a test is no part of the archive's name.
    expect(lines.filter(({ outcome }) => outcome !== "ok").map(({ rule }) => rule)).toEqual(["P3"]);
    expect(code).toBe(0);
    const strict = await runCli(["validate", "--url", served.url, "--strict"]);
    expect(strict.code).toBe(1);
    expect(strict.stdout).toContain(
      "ok: pages, if offered, are linked and make up the map: 3 pages",
    );
    expect(strict.stderr).toBe("0 errors, 1 warning\n");
  });

  it("finds what is wrong with others", async () => {
    const { url } = await scriptedServer((request, response) => {
      const isMap = request.url?.startsWith("/.well-known/mementomap") === true;
      if (request.headers["accept-encoding"] === "gzip" && isMap) {
        response.writeHead(200, { "Content-Encoding": "gzip", ETag: '"1"' });
        response.end(gzipSync("com,other)/ 1\n"));
      } else if (request.url?.endsWith("?page=1") === true) {
        response.end(`!meta {"page":{"number":1,"of":2}}\ncom,a)/ 1\n`);
      } else if (request.headers.range?.startsWith("bytes=1-") === true) {
        response.writeHead(206, { "Content-Range": "bytes 0-14/99" }).end('!fields {"keys"');
      } else if (isMap && request.method === "HEAD") response.writeHead(405).end();
      else if (isMap) response.setHeader("ETag", '"1"').end("com,b)/ 1\ncom,a)/ 1\n");
      else response.end("<p>no link");
    });
    const { code, lines } = await check(url);
    const outcomes = Object.fromEntries(lines.map(({ rule, outcome }) => [rule, outcome]));
    expect(code).toBe(1);
    expect(outcomes).toEqual({
      P1: "ok",
      P2: "error",
      P3: "warning",
      P4: "ok",
      P5: "warning",
      P6: "error",
      P7: "warning",
      P8: "error",
      P9: "ok",
      P10: "error",
      P11: "error",
      P12: "warning",
      P13: "warning",
      P14: "warning",
      P15: "error",
    });
    expect(lines.find(({ rule }) => rule === "P10")?.message).toBe(
      "it decompresses to something else; Vary does not name Accept-Encoding; both forms have the same strong ETag",
    );
  });

  it("says no where there is no map", async () => {
    const { url } = await scriptedServer((_request, response) => void response.end("hello"));
    expect(await runCli(["validate", "--url", url])).toMatchObject({ code: 1, stdout: "" });
    expect(await runCli(["validate", "--url", "nonsense"])).toMatchObject({ code: 2 });
    expect(await runCli(["validate", "--url", url, "map.ukvs"])).toMatchObject({ code: 2 });
  });

  it("checks the rules of the document, and the document has each", () => {
    const text = readFileSync(new URL("../../docs/dissemination.md", import.meta.url), "utf8");
    const rules = Array.from(
      text.matchAll(/^- \*\*(P\d+)\*\* .*?\b(MUST|SHOULD)\b/gms),
      (match) => [match[1], match[2]],
    );
    expect(rules).toEqual(
      Object.entries(PUBLISHER_RULES).map(([rule, { level }]) => [rule, level]),
    );
  });
});
