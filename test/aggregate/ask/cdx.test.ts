import { describe, expect, it } from "vitest";
import { parseArchiveList } from "../../../src/aggregate/route/archive.ts";
import {
  linkTimeMap,
  type ScriptedAnswer,
  scriptedUpstream,
} from "../../support/scripted-upstream.ts";

const URI = "http://example.org/?a=b&c";
const [archive] = parseArchiveList(
  JSON.stringify([{ id: "a", cdx: "https://a.example/cdx", replay: "https://a.example/web" }]),
);

async function asked(answer: ScriptedAnswer): Promise<unknown> {
  const { upstream } = scriptedUpstream(() => answer);
  const { result, mementos, failure } = await upstream.ask(archive, URI);
  return failure ?? [result, ...[...mementos].map(({ uri }) => uri)];
}

const CAPTURES = [
  "hit",
  "https://a.example/web/20120120142510/http://example.org:80/?a=b&c",
  "https://a.example/web/20130120142510/https://example.org/?A=B&c",
];
const ROWS = [
  ["org,example)/?a=b&c", "20120120142510", "http://example.org:80/?a=b&c", "text/html", "200"],
  ["org,example)/?a=b&c", "20130120142510", "https://example.org/?A=B&c", "-", "301"],
];
const JSON_ROWS = ROWS.map((row) => JSON.stringify(row));

describe("an archive that has a CDX server", () => {
  it("is asked for the captures of a URI", async () => {
    const { upstream, requests } = scriptedUpstream(() => ({ body: "[]" }));
    expect(await upstream.ask(archive, URI)).toMatchObject({ result: "miss" });
    expect(requests.map(({ url }) => url)).toEqual([
      "https://a.example/cdx?url=http%3A%2F%2Fexample.org%2F%3Fa%3Db%26c&output=json",
    ]);
  });

  it.each([
    [
      "an array with the names of fields",
      `[["urlkey","timestamp","original","mimetype","statuscode"],\n${JSON_ROWS.join(",\n")}]\n`,
    ],
    ["an array without", `[${JSON_ROWS.join(",\n")}\n]`],
    [
      "objects",
      ROWS.map(([urlkey, timestamp, url]) => JSON.stringify({ urlkey, timestamp, url })).join("\n"),
    ],
    [
      "CDXJ",
      ROWS.map(([key, time, url]) => `${key} ${time} {"url": "${url}", "status": "200"}\r\n`).join(
        "",
      ),
    ],
    ["CDX", ` CDX N b a m s\n${ROWS.map((row) => row.join(" ")).join("\n")}\n`],
  ])("that answers with %s, however it is cut", async (_what, body) => {
    expect(await asked({ body })).toEqual(CAPTURES);
    expect(await asked({ body: Array.from(body) })).toEqual(CAPTURES);
  });

  it.each([
    ["nothing", { body: "" }, ["miss"]],
    ["no rows", { body: '[["urlkey","timestamp","original"]]\n' }, ["miss"]],
    ["404", { status: 404 }, ["miss"]],
    ["503", { status: 503 }, ["error"]],
    ["a page for people", { body: "<html>\nSorry\n</html>" }, "bad-timemap"],
    ["a row that was cut", { body: `[${JSON_ROWS[0]},\n["org,exa` }, "bad-timemap"],
    ["no time", { body: '[["a","never","http://a/"]]' }, "bad-timemap"],
    ["a line without end", { body: ["[", "x".repeat(70_000)] }, "bad-timemap"],
  ])("that answers with %s", async (_what, answer, expected) => {
    expect(await asked(answer)).toEqual(expected);
  });

  it("is asked for its TimeMap, if it has one, too", async () => {
    const both = { ...archive, timemap: "https://a.example/timemap/" };
    const { upstream, requests } = scriptedUpstream(() => ({
      body: linkTimeMap(URI, "http://a/", ["20150101000000"]),
    }));
    expect(await upstream.ask(both, URI)).toMatchObject({ result: "hit" });
    expect(requests.map(({ url }) => url)).toEqual([`https://a.example/timemap/${URI}`]);
  });

  it.each([
    [{ id: "a" }, /no "timemap", "timegate" or "cdx"/],
    [{ id: "a", cdx: "http://a/cdx" }, /"cdx" without "replay"/],
    [{ id: "a", cdx: "a", replay: "http://a/" }, /"cdx" is "a"/],
  ])("has to be described whole: %j", (entry, message) => {
    expect(() => parseArchiveList(JSON.stringify([entry]))).toThrow(message);
  });
});
