import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { PUBLISHER_RULES } from "../../src/publish/fetch/check-publisher.ts";
import { fileServer } from "../support/file-server.ts";
import { pagedFiles } from "../support/paged-files.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
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
    // The port of a test is not part of the archive's name.
    expect(lines.filter(({ outcome }) => outcome !== "ok").map(({ rule }) => rule)).toEqual(["P3"]);
    expect(code).toBe(0);
    const strict = await runCli(["validate", "--url", served.url, "--strict"]);
    expect(strict.code).toBe(1);
    expect(strict.stdout).toContain(
      "ok: the map is offered in 3 pages with the records of the map [P15]",
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
      "it decompresses to other content; Vary does not name Accept-Encoding; both forms have the same strong ETag",
    );
  });

  it("words findings as findings", async () => {
    const { url } = await scriptedServer((request, response) => {
      if (request.url === "/") response.end("<p>no link");
      else response.end("com,a)/ 1\n");
    });
    const { stdout } = await runCli(["validate", "--url", `${url}/`]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toContain(
      "warning: the response has no ETag; there should be a strong ETag [P4]",
    );
    expect(lines).toContain(
      `warning: ${url}/ has no link to the map; the archive's page should link to the map [P14]`,
    );
    // What is fine, or was not looked at, says only what was found.
    for (const line of lines.filter((text) => /^(?:ok|skipped):/.test(text))) {
      expect(line).not.toMatch(/should|must/);
    }
  });

  it("follows the links in pages of a server of files", async () => {
    const { url, files } = await fileServer(await pagedFiles(EXAMPLE_MAP, 3, "/.well-known/"));
    const page = (number: number): string => `/.well-known/page-${number}.ukvs`;
    const bytesOf = (number: number): Buffer => Buffer.from(files.get(page(number)) ?? "");
    files.set("/.well-known/mementomap", bytesOf(1));
    files.set("/", Buffer.from("<p>no link"));
    const found = async (): Promise<Partial<Line> | undefined> => {
      const { lines } = await check(url);
      const errors = lines.filter(({ outcome }) => outcome === "error").map(({ rule }) => rule);
      expect(["", "P15"]).toContain(errors.filter((rule) => !/P6|P8|P11/.test(rule)).join());
      return lines.find(({ rule }) => rule === "P15");
    };
    expect(await found()).toMatchObject({
      outcome: "ok",
      message: "the map is offered in 3 pages, linked and in order",
    });
    const third = bytesOf(3);
    files.set(page(3), bytesOf(2));
    expect(await found()).toMatchObject({
      outcome: "error",
      message: expect.stringContaining("page-3.ukvs is page 2, not page 3") as string,
    });
    const other = third.toString().replaceAll(/"version":"[^"]*"/g, '"version":"x"');
    files.set(page(3), Buffer.from(other));
    expect(await found()).toMatchObject({
      outcome: "error",
      message: expect.stringContaining("is of another version") as string,
    });
    files.delete(page(3));
    expect(await found()).toMatchObject({
      outcome: "error",
      message: expect.stringContaining("page-3.ukvs is not a page of the map") as string,
    });
  });

  it.each([
    ["CRLF", EXAMPLE_MAP.replaceAll("\n", "\r\n")],
    ["no end of the last line", EXAMPLE_MAP.trimEnd()],
    ["blank lines", EXAMPLE_MAP.replaceAll("\norg,", "\n\norg,")],
  ])("takes pages of a map with %s for that map", async (_name, map) => {
    const served = await serving(map, { pageRecords: 2 });
    const { lines } = await check(served.url);
    expect(lines.find(({ rule }) => rule === "P15")).toMatchObject({
      outcome: "ok",
      message: "the map is offered in 3 pages with the records of the map",
    });
  });

  it("fetches pages of a map without headers", async () => {
    const rows = "com,a)/ 1\ncom,b)/ 2\ncom,c)/ 3\n";
    const { url } = await fileServer(await pagedFiles(rows, 3));
    const output = join(scratchDir(), "map.ukvs");
    const got = await runCli(["fetch", `${url}/page-1.ukvs`, "--direct", "-o", output]);
    expect(got).toMatchObject({ code: 0 });
    expect(readFileSync(output, "utf8").replaceAll(/^!.*\n/gm, "")).toBe(rows);
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
