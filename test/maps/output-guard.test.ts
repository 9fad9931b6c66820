import { linkSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Learner } from "../../src/aggregate/learn/learner.ts";
import { snapshotOf } from "../../src/aggregate/learn/snapshot.ts";
import { compactMapFile, generateMapFile } from "../../src/library/map-files.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { spawnShell } from "../support/spawn-cli.ts";
import { sized } from "../support/sized-map.ts";
import { warcRecord } from "../support/warc-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const CDXJ = 'com,a)/ 20140101000000 {"url":"http://a.com/","status":"200"}\n';
const MAP = sized("!meta {}\ncom,a)/ 1\ncom,b)/ 2\n");
const LOG = "INFO: 2016/05/05 12:00:00.123456 Aggregating Mementos for http://a.com/\n";
const FILES = {
  "a.cdxj": CDXJ,
  "b.cdxj": CDXJ.replaceAll("a", "b"),
  // CDX files without a header line: of eleven columns, and as NetarchiveSuite writes them.
  "plain.cdx": "com,a)/ 20140101000000 http://a.com/ text/html 200 X - - 9 0 a.warc.gz\n",
  "arc.cdx": "http://a.com/ 192.0.2.1 20140101000000 text/html 9 a.arc 0\n",
  "a.warc.gz": gzipSync(warcRecord({ type: "response", uri: "http://a.com/" })),
  "map.ukvs": MAP,
  "uris.txt": "http://a.com/\nhttp://b.com/\n",
  "mg.log": LOG,
  "page.html": "<!doctype html><title>mine</title>\n",
  "notes.txt": "Remember the milk.\n",
};

function world(): { readonly folder: string; readonly at: (name: string) => string } {
  const folder = scratchDir();
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  return { folder, at: (name) => join(folder, name) };
}

/** Everything in a folder, by name. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]),
  );
}

/** Names of files within the world are written `@name`. */
async function run(
  { at }: ReturnType<typeof world>,
  ...argv: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  return runCli(argv.map((word) => (word.startsWith("@") ? at(word.slice(1)) : word)));
}

describe("an output that would destroy something", () => {
  it.each([
    ["generate @a.warc.gz -o @a.warc.gz"],
    ["generate @a.cdxj @b.cdxj -o @b.cdxj"],
    ["generate @a.cdxj -o @linked.cdxj"],
    ["generate @a.cdxj -o @hard.cdxj"],
    ["generate @a.cdxj --add @map.ukvs -o @a.cdxj"],
    ["generate @. -o @a.cdxj"],
    ["compact @map.ukvs --max-lines 5 --misses @uris.txt -o @uris.txt"],
    ["analyze @a.cdxj --html @a.cdxj"],
    ["analyze @a.cdxj -o @a.cdxj"],
    ["logs @mg.log --html @mg.log"],
    ["logs @mg.log --holdings @a.cdxj -o @a.cdxj"],
    ["evaluate @map.ukvs --truth @map.ukvs --lookups @uris.txt --html @map.ukvs"],
    ["evaluate @map.ukvs --truth @map.ukvs --lookups @uris.txt --html @uris.txt"],
    ["lookup @map.ukvs --batch @uris.txt -o @uris.txt"],
    ["lookup @map.ukvs http://a.com/ -o @map.ukvs"],
    ["diff @map.ukvs @map.ukvs -o @map.ukvs"],
    ["analyze @a.cdxj --html @new.html -o @new.html"],
  ])("is refused, with --force too: %s", async (line) => {
    for (const force of [[], ["--force"]]) {
      const place = world();
      symlinkSync(place.at("a.cdxj"), place.at("linked.cdxj"));
      linkSync(place.at("a.cdxj"), place.at("hard.cdxj"));
      const before = contents(place.folder);
      const result = await run(place, ...line.split(" "), ...force);
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain("[MM_USAGE]");
      expect(contents(place.folder)).toEqual(before);
    }
  });

  it.each([
    // What the shell makes of "generate -o *.cdxj".
    ["generate -o @a.cdxj @b.cdxj", "is an index, not a map"],
    ["generate @a.cdxj -o @b.cdxj", "already exists and is an index, not a map"],
    ["generate @a.cdxj -o @plain.cdx", "is an index, not a map"],
    ["generate @a.cdxj -o @arc.cdx", "is an index, not a map"],
    ["generate @a.cdxj -o @notes.txt", "a text file"],
    ["generate @a.cdxj -o @a.warc.gz", "an archive file"],
    ["compact @map.ukvs -o @page.html", "an HTML page"],
    ["merge @map.ukvs -o @uris.txt", "a list of URIs"],
    ["analyze @a.cdxj --html @map.ukvs", "is a map, not an HTML page"],
    ["analyze @a.cdxj -o @mg.log", "a log"],
    ["sample --lines 10 -o @map.ukvs", "not an index"],
    ["sample --lines 10 --uris 5 -o @a.cdxj", "not a list of URIs"],
    ["lookup @map.ukvs http://a.com/ -o @notes.txt", "not lookup results"],
  ])("and is a file of another kind is refused, unless --force: %s", async (line, reason) => {
    const place = world();
    const before = contents(place.folder);
    const refused = await run(place, ...line.split(" "));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(reason);
    expect(refused.stderr).toContain("--force");
    expect(contents(place.folder)).toEqual(before);
    expect((await run(place, ...line.split(" "), "--force")).code).toBe(0);
    expect(contents(place.folder)).not.toEqual(before);
  });

  it.each([
    ["generate @a.cdxj --add @map.ukvs -o @map.ukvs"],
    ["compact @map.ukvs -o @map.ukvs"],
    ["compact @map.ukvs --max-lines 8 -o @map.ukvs"],
    ["merge @map.ukvs @map.ukvs -o @map.ukvs"],
    ["generate @a.cdxj -o @map.ukvs"],
    ["generate @a.cdxj -o @empty"],
    ["generate @a.cdxj -o /dev/null"],
    ["analyze @a.cdxj --html @page.html"],
    ["lookup @map.ukvs http://a.com/ -o @answers.tsv"],
  ])("is not refused where the result takes its place by design: %s", async (line) => {
    const place = world();
    writeFileSync(place.at("empty"), "");
    writeFileSync(place.at("answers.tsv"), "http://x/\tabsent\t-\t-\t-\n");
    const { code, stderr } = await run(place, ...line.split(" "));
    expect([code, stderr.includes("MM_")]).toEqual([0, false]);
  });

  it("and is a part of a ZipNum cluster that is read is refused, with --force too", async () => {
    const place = world();
    const { index, data } = zipNum([CDXJ.trimEnd()], 1, "part.cdxj.gz");
    writeFileSync(place.at("url.idx"), index);
    writeFileSync(place.at("part.cdxj.gz"), data);
    const before = contents(place.folder);
    for (const line of [
      "generate @url.idx -o @part.cdxj.gz",
      "analyze @url.idx --html @part.cdxj.gz",
    ]) {
      const result = await run(place, ...line.split(" "), "--force");
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toContain("is read too, as a part of");
      expect(contents(place.folder)).toEqual(before);
    }
  });

  it("is refused by the library", async () => {
    const { at } = world();
    await expect(generateMapFile([at("a.cdxj")], at("a.cdxj"))).rejects.toMatchObject({
      code: "MM_USAGE",
    });
    await expect(compactMapFile(at("map.ukvs"), at("a.cdxj"))).rejects.toMatchObject({
      code: "MM_USAGE",
    });
    expect(readFileSync(at("a.cdxj"), "utf8")).toBe(CDXJ);
  });

  it.each([
    "generate @a.cdxj -o OUT",
    "generate @a.cdxj -o OUT.gz",
    "compact @map.ukvs -o OUT",
    "compact --max-lines 5 @map.ukvs -o OUT",
    "merge @map.ukvs @map.ukvs -o OUT",
    "diff @map.ukvs @map.ukvs -o OUT",
    "split --pages 2 @map.ukvs -o OUT",
    "page @map.ukvs -o OUT",
    "sample --lines 5 -o OUT",
    "lookup @map.ukvs --batch @uris.txt -o OUT",
    "analyze @a.cdxj -o OUT",
    "analyze @a.cdxj --html OUT",
    "logs @mg.log -o OUT",
    "logs @mg.log --html OUT",
    "evaluate @map.ukvs --truth @map.ukvs --lookups @uris.txt --html OUT",
    "fetch http://127.0.0.1:1/ -o OUT",
    "harvest http://127.0.0.1:1/ --url a -o OUT",
    "aggregate --serve --port 0 -a @list.json --log OUT",
    "aggregate --serve --port 0 -a @list.json --access-log OUT",
    "serve @map.ukvs --port 0 --access-log OUT",
  ])("that has no folder is refused, and the folder named: %s", async (line) => {
    const place = world();
    const { folder, at } = place;
    const archive = { id: "a", timemap: "http://127.0.0.1:1/", timegate: "http://127.0.0.1:1/" };
    writeFileSync(at("list.json"), JSON.stringify([archive]));
    const before = contents(folder);
    const words = line.replace("OUT", at(join("none", "x"))).split(" ");
    const { code, stderr } = await run(place, ...words);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`the folder ${at("none")} does not exist`),
    });
    expect(contents(folder)).toEqual(before);
  });
});

describe("standard output that the shell has redirected to an input", () => {
  it.each([
    // ">>" leaves the file as it is; what is appended to would be read without end.
    ["compact < map.ukvs >> map.ukvs"],
    ["compact map.ukvs >> map.ukvs"],
    ["compact map.ukvs 1<> map.ukvs"],
    ["compact --max-lines 5 --misses uris.txt map.ukvs >> uris.txt"],
    ["merge map.ukvs >> map.ukvs"],
    ["generate a.cdxj b.cdxj >> b.cdxj"],
    ["generate a.cdxj --add map.ukvs >> map.ukvs"],
    ["lookup map.ukvs --batch uris.txt >> uris.txt"],
    ["lookup map.ukvs --batch - < uris.txt >> uris.txt"],
    ["analyze a.cdxj >> a.cdxj"],
    ["logs mg.log >> mg.log"],
    ["diff map.ukvs map.ukvs >> map.ukvs"],
  ])("is refused, and nothing is written: %s", async (line) => {
    const { folder } = world();
    const before = contents(folder);
    const { code, stderr } = await spawnShell(`cd '${folder}' && mementomap ${line}`);
    expect(code).toBe(2);
    expect(stderr).toMatch(/is an input, and standard output goes there.*\[MM_USAGE\]/);
    expect(contents(folder)).toEqual(before);
  });

  it("gives no map of the nothing that is left of an input", async () => {
    const { folder, at } = world();
    // The shell empties the file before the program starts.
    const { code } = await spawnShell(`cd '${folder}' && mementomap compact < map.ukvs > map.ukvs`);
    expect(code).toBe(2);
    expect(readFileSync(at("map.ukvs"), "utf8")).toBe("");
  });
});

describe("a log of a service", () => {
  const ARCHIVE = { id: "a", name: "A", timemap: "http://127.0.0.1:9/" };

  function listIn({ at }: ReturnType<typeof world>, archives: readonly object[]): void {
    writeFileSync(at("list.json"), JSON.stringify(archives));
  }

  it.each([
    ["--log @list.json", "is an input too"],
    ["--access-log @list.json", "is an input too"],
    ["--log @map.ukvs", "is an input too"],
    ["--access-log @linked.ukvs", "is an input too"],
    ["--log @config.json --config @config.json", "is an input too"],
    ["--log @a.cdxj", "an index, not a log; name another file"],
    ["--access-log @page.html", "an HTML page, not a log"],
    ["--log @new.log --access-log @new.log", "is named for two outputs"],
    ["--log @new.log --state @map.ukvs", "map.ukvs"],
  ])("is not appended to what is not a log: aggregate %s", async (line, reason) => {
    const place = world();
    listIn(place, [{ ...ARCHIVE, mementomap: place.at("map.ukvs") }]);
    writeFileSync(place.at("config.json"), "{}");
    symlinkSync(place.at("map.ukvs"), place.at("linked.ukvs"));
    const before = contents(place.folder);
    const asked = ["http://a.com/", "-a", "@list.json", ...line.split(" ")];
    const result = await run(place, "aggregate", ...asked);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(reason);
    expect({ ...contents(place.folder), "new.log": "" }).toEqual({ ...before, "new.log": "" });
  });

  it.each([
    ["Remember the milk.\n", "a text file, not the learned state of an aggregator"],
    ["[]", "JSON, not the learned state of an aggregator"],
  ])("nor is what is learnt written over other files: %j", async (text, reason) => {
    const place = world();
    listIn(place, [ARCHIVE]);
    writeFileSync(place.at("learnt.bin"), text);
    const before = contents(place.folder);
    const asked = ["http://a.com/", "-a", "@list.json", "--recall", "0.98"];
    const result = await run(place, "aggregate", ...asked, "--state", place.folder);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(reason);
    expect(contents(place.folder)).toEqual(before);
  });

  const learnt = Buffer.from(snapshotOf(new Learner([{ id: "a" }], { recall: 0.9 })));
  it.each([Buffer.alloc(0), learnt, learnt.subarray(0, 50), Buffer.from("mmlearn1 of 0.1")])(
    "but what is learnt replaces its own file, empty, whole, damaged or older",
    async (old) => {
      const place = world();
      listIn(place, [ARCHIVE]);
      writeFileSync(place.at("learnt.bin"), old);
      const asked = ["http://a.com/", "-a", "@list.json", "--recall", "0.98"];
      const result = await run(place, "aggregate", ...asked, "--state", place.folder);
      expect(result.stderr).toContain("none of 1 archive answered");
    },
  );

  it("is not appended to the map that is served", async () => {
    const place = world();
    const before = contents(place.folder);
    const result = await run(place, "serve", "@map.ukvs", "--access-log", "@map.ukvs");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("is an input too");
    expect(contents(place.folder)).toEqual(before);
  });

  it("and no map that is fetched replaces the map of another archive", async () => {
    const place = world();
    const own = place.at("b.ukvs");
    writeFileSync(own, MAP);
    listIn(place, [
      { ...ARCHIVE, mementomap: own },
      { ...ARCHIVE, id: "b", mementomap: "http://127.0.0.1:9/map" },
    ]);
    const before = contents(place.folder);
    const asked = ["http://a.com/", "-a", "@list.json", "--state", place.folder];
    const result = await run(place, "aggregate", ...asked);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("is an input too");
    expect(contents(place.folder)).toEqual(before);
  });
});
