import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

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

describe("the key column of an index", () => {
  it("is not trusted where it differs from the URIs, and the summary says so", async () => {
    const { rows, header, stderr } = await generate(OTHER_DIALECT.join("\n"));
    expect(rows).toEqual(["com,example)/ 1", "com,example)/a 1", "org,example)/ 1"]);
    expect(header).toContain('"canonicalization":"surt"');
    expect(stderr).toMatch(/keyed again +2 +key columns differ from the URIs, in .*index/);
  });

  it("stands in for a URI that is missing between two equal ones", async () => {
    const rows = [
      "com,example,www)/ 20140101000000 http://www.example.com/ text/html 200 A 1",
      "com,example,www)/ 20150101000000 http://www.example.com/ text/html 200 A 1",
      "com,example)/b 20140101000000 - text/html 200 A 1",
      "com,example,www)/ 20160101000000 http://www.example.com/ text/html 200 A 1",
      "com,example,www)/ 20170101000000 http://www.example.com/c text/html 200 A 1",
    ];
    const { rows: made, stderr } = await generate(rows.join("\n"));
    expect(stderr).toContain("keyed again");
    expect(made).toEqual(["com,example)/ 3", "com,example)/b 1", "com,example)/c 1"]);
    const { rows: years } = await generate(rows.join("\n"), "--by", "datetime:year");
    expect(years.slice(0, 3)).toEqual([2014, 2015, 2016].map((year) => `com,example)/ ${year} 1`));
  });

  it.each([1, 2, 40])(
    "is compared line by line, also in a last one without end: %i",
    async (count) => {
      const row = (i: number): string =>
        `com,example)/${i} 2014 {"url": "http://example.com/${i}"}`;
      const { stderr } = await generate(Array.from({ length: count }, (_, i) => row(i)).join("\n"));
      expect(stderr).not.toContain("keyed again");
    },
  );

  it("can be forced, and the header says so", async () => {
    const { rows, header, stderr } = await generate(OTHER_DIALECT.join("\n"), "--keys", "column");
    expect(rows).toEqual(["com,example,www)/ 1", "com,example,www)/a 1", "org,example)/ 1"]);
    expect(header).toContain('"canonicalization":"index"');
    expect(stderr).not.toContain("keyed again");
  });

  it("is not used at all with --keys uri", async () => {
    const { rows, stderr } = await generate(`${OURS}\n`, "--keys", "uri");
    expect(rows).toEqual(["com,example)/ 1"]);
    expect(stderr).toMatch(/keyed again +1/);
  });

  it("of CDX is compared too", async () => {
    const cdx =
      " CDX N b a m s\ncom,example,www)/ 20140101000000 http://www.example.com/ text/html 200\n";
    expect((await generate(cdx)).rows).toEqual(["com,example)/ 1"]);
    expect((await generate(cdx, "--keys", "column")).rows).toEqual(["com,example,www)/ 1"]);
  });

  it("that differs only far behind makes generate begin again", async () => {
    // Beyond what is looked at first, in a stream: every 1,024th row is compared.
    const filler = Array.from(
      { length: 30_000 },
      (_, i) => `com,example)/${i} 20140101000000 {"url": "http://example.com/${i}"}`,
    );
    const odd = Array.from(
      { length: 2000 },
      (_, i) => `net,www)/${i} 20140101000000 {"url": "http://www.example.net/${i}"}`,
    );
    const index = gzipSync([...filler, ...odd].join("\n"));
    const { rows, stderr } = await generate(index);
    expect(rows).toContain("net,example)/7 1");
    expect(rows).not.toContain("net,www)/7 1");
    expect(rows.length).toBe(32_000);
    expect(stderr).toMatch(/lines +32,000/);
    expect(stderr).toMatch(/keyed again +32,000/);
  });

  it("that differs only far behind in a stream, which cannot be read again, is named so in the header", async () => {
    const row = (host: string, i: number): string =>
      `com,${host})/${i} 20140101000000 {"url": "http://example.com/${i}"}\n`;
    const agreeing = Array.from({ length: 5000 }, (_, i) => row("example", i)).join("");
    const odd = Array.from({ length: 2000 }, (_, i) => row("other", i)).join("");
    for (const [stdin, keys] of [
      [agreeing, "surt"],
      [agreeing + odd, "index"],
    ]) {
      const result = await runCli(["generate", "--json", "--threads", "1"], { stdin });
      expect(result.stdout).toContain(`"canonicalization":"${keys}"`);
      expect(JSON.parse(result.stderr)).toMatchObject({ canonicalization: keys });
    }
  });

  it("without URIs to compare it with is named so in the header", async () => {
    const { header } = await generate("com,example)/\n");
    expect(header).toContain('"canonicalization":"index"');
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
    const { rows } = await generate(list.join("\n"));
    expect(rows).toEqual([
      "2001:db8::1)/v6 1",
      "com,example)/foo 2",
      "com,example)/x 1",
      "com,example)/y 1",
      "com,example)/z 1",
      "org,example)/a_(b) 1",
    ]);
  });

  it("is all there is in rows without a URI, and none of them is lost", async () => {
    const cdx = (key: string, uri: string): string =>
      `${key} 20140101000000 ${uri} text/html 200 X - - 1 2 f`;
    const differing = [cdx("com,example,www)/", "http://www.example.com/"), cdx("com,a)/b", "-")];
    const mixed = await generate([...differing, cdx("example.com/c", "-")].join("\n"));
    expect(mixed.rows).toEqual(["com,a)/b 1", "com,example)/ 1", "com,example)/c 1"]);
    const { rows } = await generate([cdx("com,a)/b", "-"), cdx("com,c)/", "-")].join("\n"));
    expect(rows).toEqual(["com,a)/b 1", "com,c)/ 1"]);
  });

  it("is all there is in answers of a CDX server without URIs", async () => {
    const lines = Array.from(
      { length: 3000 },
      (_, i) => `{"urlkey": "com,a)/${i}", "timestamp": "20140101000000"}`,
    );
    const { rows, stderr } = await generate(lines.join("\n"));
    expect(rows).toHaveLength(3000);
    expect(stderr).not.toMatch(/keyed again|not of the web/);
  });

  it("takes no heed of queries, which keys do not have", async () => {
    const row = 'com,a)/x?__wb_method=post&z=1 20140101000000 {"url": "http://a.com/x?y"}\n';
    expect((await generate(row)).stderr).not.toContain("keyed again");
  });

  it("is named in an error for other words", async () => {
    const { code, stderr } = await generate("com,a)/\n", "--keys", "magic");
    expect(code).toBe(2);
    expect(stderr).toContain('unknown "magic"; use auto, column or uri');
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
    expect(stderr).toMatch(/counted once +1 +the same URI and time/);
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
    expect(stderr).toMatch(/left out by revisit +2/);
  });

  it("are of no web page by their URI, though the key looks like one", async () => {
    const index = [
      'org,gnu)/manifest 20140101000000 {"url": "metadata://gnu.org/manifest"}',
      'org,gnu)/manifest 20140101000000 {"url": "http://gnu.org/manifest"}',
    ].join("\n");
    const { rows, stderr } = await generate(index);
    expect(rows).toEqual(["org,gnu)/manifest 1"]);
    expect(stderr).toMatch(/not of the web +1/);
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
