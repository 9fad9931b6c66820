import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { surtKey } from "../../src/surt/key.ts";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

/** CDXJ whose keys keep `www`, as the CDXJ specification has them. */
const OTHER_DIALECT = [
  'com,example,www)/ 20140101000000 {"url": "http://www.example.com/"}',
  'com,example,www)/a 20140101000000 {"url": "http:\\/\\/www.example.com\\/a"}',
  'org,example)/ 20140101000000 {"filename": "x"}',
];
const OURS = 'com,example)/ 20140101000000 {"url": "http://www.example.com/"}';

interface Summary {
  readonly code: number;
  readonly rows: string[];
  readonly header: string;
  readonly stderr: string;
}

async function generate(content: string | Uint8Array, ...options: string[]): Promise<Summary> {
  const path = join(scratchDir(), "index");
  writeFileSync(path, content);
  const { code, stdout, stderr } = await runCli(["generate", "--threads", "1", ...options, path]);
  const lines = stdout.split("\n");
  return {
    code,
    rows: lines.filter((line) => line !== "" && !line.startsWith("!")),
    header: lines.find((line) => line.startsWith("!meta")) ?? "",
    stderr,
  };
}

describe("the key of a row", () => {
  it("is made from its URI; the key column counts only where there is none", async () => {
    const { rows, header, stderr } = await generate(OTHER_DIALECT.join("\n"));
    expect(rows).toEqual(["com,example)/ 1", "com,example)/a 1", "org,example)/ 1"]);
    expect(header).toContain('"canonicalization":"index"');
    expect(stderr).toMatch(/without a URI +1 /);
    const ours = await generate(OTHER_DIALECT.slice(0, 2).join("\n"));
    expect(ours.header).toContain('"canonicalization":"surt"');
    expect(ours.stderr).not.toContain("without a URI");
  });

  it("is that of its URI in every row, however few have a key column of another kind", async () => {
    const plain = (i: number): string =>
      `org,example)/p/${i} 20140101000000 {"url": "http://example.org/p/${i}"}`;
    const odd = (i: number): string =>
      `org,example)/p/${i}Old.HTML 20140101000000 {"url": "http://www.example.org/p/${i}Old.HTML"}`;
    const lines = Array.from({ length: 40_000 }, (_, i) => (i % 999 === 7 ? odd(i) : plain(i)));
    const { rows } = await generate(lines.join("\n"));
    const held = new Set(rows);
    const wanted = lines.map(
      (line) => `${surtKey(surt(JSON.parse(line.slice(line.indexOf("{"))).url))} 1`,
    );
    expect(wanted.filter((row) => !held.has(row))).toEqual([]);
  });

  it("is the key column where there is no URI to name a host", async () => {
    const index = ['com,a)/y 2014 {"url": null}', 'com,a)/z 2014 {"url": "-"}'];
    const { rows } = await generate(index.join("\n"));
    expect(rows).toEqual(["com,a)/y 1", "com,a)/z 1"]);
  });

  it("is that of its own URI, between rows with equal ones", async () => {
    const rows = [
      "com,example,www)/ 20140101000000 http://www.example.com/ text/html 200 A 1",
      "com,example,www)/ 20150101000000 http://www.example.com/ text/html 200 A 1",
      "com,example)/b 20140101000000 - text/html 200 A 1",
      "com,example,www)/ 20160101000000 http://www.example.com/ text/html 200 A 1",
      "com,example,www)/ 20170101000000 http://www.example.com/c text/html 200 A 1",
      "example.com/d 20170101000000 - text/html 200 A 1",
    ];
    const { rows: made } = await generate(rows.join("\n"));
    expect(made).toEqual([
      "com,example)/ 3",
      "com,example)/b 1",
      "com,example)/c 1",
      "com,example)/d 1",
    ]);
    const { rows: years } = await generate(rows.join("\n"), "--by", "datetime:year");
    expect(years.slice(0, 3)).toEqual([2014, 2015, 2016].map((year) => `com,example)/ ${year} 1`));
  });

  it("in another dialect is made ours in a list of SURTs, so that lookups find it", async () => {
    const list = [
      "COM,EXAMPLE)/Foo",
      "com,example)/foo",
      "com,example,)/x",
      "http://(com,example,www,)/y",
      "com,example,www2)/z",
      "[2001:db8::1])/v6",
      "org,example)/a_(b)",
    ];
    const { rows, header } = await generate(list.join("\n"));
    expect(header).toContain('"canonicalization":"index"');
    expect(rows).toEqual([
      "2001:db8::1)/v6 1",
      "com,example)/foo 2",
      "com,example)/x 1",
      "com,example)/y 1",
      "com,example)/z 1",
      "org,example)/a_(b) 1",
    ]);
  });

  it("is the key column in answers of a CDX server without URIs", async () => {
    const lines = Array.from(
      { length: 3000 },
      (_, i) => `{"urlkey": "com,a)/${i}", "timestamp": "20140101000000"}`,
    );
    const { rows, stderr } = await generate(lines.join("\n"));
    expect(rows).toHaveLength(3000);
    expect(stderr).not.toMatch(/not web content/);
  });
});

describe("rows that are told apart", () => {
  const row = (path: string, date: string, more = ""): string =>
    `com,a)/${path} ${date} {"url": "http://a.com/${path}"${more}}`;

  it("are counted once with --distinct, by URI and time", async () => {
    const index = [
      row("", "20140101000000"),
      row("", "20140101000000"),
      row("?q", "20140101000000"),
      row("", "20150101000000"),
    ].join("\n");
    expect((await generate(index)).rows).toEqual(["com,a)/ 4"]);
    const { rows, stderr } = await generate(index, "--distinct");
    expect(rows).toEqual(["com,a)/ 3"]);
    expect(stderr).toMatch(/counted once +1 +same URI and time/);
    expect((await generate(index, "--distinct", "--originals")).rows).toEqual(["com,a)/ 3/2"]);
    expect((await generate(index, "--distinct", "--by", "datetime:year")).rows).toEqual([
      "com,a)/ 2014 2",
      "com,a)/ 2015 1",
    ]);
  });

  it("are of different times, though their keys are the same and nothing else stands between", async () => {
    const index = ["2014", "2015", "2015", "2016"].map((year) => row("x", `${year}0101000000`));
    expect((await generate(index.join("\n"), "--distinct")).rows).toEqual(["com,a)/x 3"]);
  });

  it("are split by as many digits of the datetime as they have and --by asks for", async () => {
    const index = ["201401", "20140126200624", "20140126200624123"].map((date) => row("", date));
    const rowsBy = async (field: string): Promise<string[]> =>
      (await generate(index.join("\n"), "--originals", "--by", field)).rows;
    expect(await rowsBy("datetime:day")).toEqual(["com,a)/ 201401 1/1", "com,a)/ 20140126 2/1"]);
    expect(await rowsBy("datetime")).toEqual(["com,a)/ 201401 1/1", "com,a)/ 20140126200624 2/1"]);
  });

  it("are revisits, counted unless they are to be skipped", async () => {
    const index = [
      row("", "20140101000000", ', "mime": "text/html"'),
      row("", "20150101000000", ', "mime": "warc/revisit"'),
      row("", "20160101000000", ', "mime": "warc\\/revisit"'),
    ].join("\n");
    for (const options of [[], ["--originals"], ["--from", "2014"]]) {
      const counted = await generate(index, ...options);
      expect(counted.stderr).toMatch(/captures +3\n +revisits +2\n/);
    }
    expect((await generate(index)).rows).toEqual(["com,a)/ 3"]);
    const { rows, stderr } = await generate(index, "--revisits", "skip");
    expect(rows).toEqual(["com,a)/ 1"]);
    expect(stderr).toMatch(/excluded by revisit +2/);
  });

  it("are of no web page by their URI, though the key looks like one", async () => {
    const index = [
      'org,gnu)/manifest 20140101000000 {"url": "metadata://gnu.org/manifest"}',
      'org,gnu)/manifest 20140101000000 {"url": "http://gnu.org/manifest"}',
    ].join("\n");
    const { rows, stderr } = await generate(index);
    expect(rows).toEqual(["org,gnu)/manifest 1"]);
    expect(stderr).toMatch(/not web content +1/);
  });
});

describe("samples and indexes", () => {
  it("cannot be counted together", async () => {
    const folder = scratchDir();
    writeFileSync(join(folder, "a.cdxj"), `${OURS}\n`);
    writeFileSync(
      join(folder, "a.log"),
      'h - - [09/Jun/2016:12:00:00 +0000] "GET /web/2016/http://example.com/ HTTP/1.1" 200 5\n',
    );
    const paths = ["a.cdxj", "a.log"].map((name) => join(folder, name));
    const result = await runCli(["generate", "--threads", "1", ...paths]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(/a\.log.* is a sample .*a\.cdxj.*\[MM_USAGE\]/);
  });
});
