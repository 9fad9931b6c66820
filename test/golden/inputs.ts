import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

const DATA = new URL("../../../shared/data/", import.meta.url).pathname;

export const digest = (bytes: string | Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex").slice(0, 12);

/** A deterministic random generator: mulberry32. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const HEAD = '!context ["https://git.io/mementomap"]\n!id {"uri":"http://archive.example/"}\n';
const FIELDS = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const META = '!meta {"type":"MementoMap","updated_at":"2020-02-02T02:02:02Z"}\n';

const SUFFIXES = ["com", "org", "de", "co.uk", "gov", "example", "pt", "museum"];
const WORDS =
  "news about img css archive 2014 index.html a b page.php wiki Main_Page ~user x%20y é ü view.cgi".split(
    " ",
  );

/** URIs of some hundred hosts, a few of which have most pages, including queries and unusual spellings. */
export function uris(seed: number, count: number): string[] {
  const pick = random(seed);
  const one = (list: readonly string[]): string => list[pick(list.length)] ?? "";
  return Array.from({ length: count }, () => {
    const rank = Math.floor(300 * (pick(1000) / 1000) ** 3);
    const domain = `site${rank}.${SUFFIXES[rank % SUFFIXES.length] ?? ""}`;
    const host = `${["", "www.", "m.", "blog."][rank % 7 === 0 ? pick(4) : 0] ?? ""}${domain}`;
    const path = Array.from({ length: pick(5) }, () =>
      pick(3) === 0 ? String(pick(200)) : one(WORDS),
    );
    const port = pick(40) === 0 ? ":8080" : "";
    const query = pick(6) === 0 ? `?id=${pick(50)}&${one(WORDS)}=${pick(9)}` : "";
    return `${pick(2) === 0 ? "http" : "https"}://${host}${port}/${path.join("/")}${query}`;
  });
}

const ODD = [
  "http://[::1]:80/a",
  "http://[2001:db8::7]/x?y=1",
  "http://192.168.0.1/a/../b",
  "http://EXAMPLE.com./A%2fb",
  "http://example.com",
  "http://example.com/?",
  "http://example.com/a?",
  "http://example.com/?a=%C3%A9&A=é",
  "http://example.com//double//slash",
  "http://example.com/%2F:0%3f",
  "http://münchen.de/straße?größe=1",
  "http://xn--mnchen-3ya.de/stra%C3%9Fe",
  "http://user:secret@example.com/private",
  "http://www2.example.com/",
  "http://dns/held",
  "http://metadata/held",
  "http://localhost/x",
  "http://example.com/*",
  "http://example.com/a*b",
  "http://example.com/a b",
  "http://example.com/;jsessionid=0123456789ABCDEF0123456789abcdef?x=1",
  "http://example.com/?PHPSESSID=0123456789abcdef0123456789abcdef&b=1",
  "http://example.com/#!fragment",
  "http://example.com:443/",
  "https://example.com:443/a",
  "https://example.com:80/a",
  "ftp://example.com/file.txt",
  "http://a.b.c.d.e.example/x",
  "http://example.com/?q=http://other.example/?a=b&c",
  "http://example.com/%00%0a%7f",
  "http://_under.example.com/_",
  "http://example.com/a,b)c(d",
  "http://example.com/🦊?🦊=1",
  "http://1.2.3/x",
  "http://999.1/x",
];

function cdxjLine(uri: string, pick: (below: number) => number, key = "-"): string {
  const time = `${1996 + pick(26)}${String(1 + pick(12)).padStart(2, "0")}${String(1 + pick(28)).padStart(2, "0")}101112`;
  const status = ["200", "200", "200", "200", "302", "404", "-"][pick(7)] ?? "";
  const mime = ["text/html", "text/html", "image/png", "warc/revisit"][pick(4)] ?? "";
  return `${key} ${time} ${JSON.stringify({ url: uri, mime, status, digest: `S${pick(500)}`, length: String(pick(9999)) })}\n`;
}

/** Writes every input that `commands.txt` names. Faulty maps and indexes are listed here. */
export function writeInputs(folder: string): void {
  const write = (name: string, content: string | Uint8Array): void =>
    writeFileSync(join(folder, name), content);
  const held = uris(1, 20_000);
  const pick = random(2);
  const a = held.map((uri) => cdxjLine(uri, pick));
  write("a.cdxj", a.join(""));
  const b = uris(3, 5000).map((uri) => cdxjLine(uri, pick));
  write("b.cdxj", b.join(""));
  const odd = ODD.map((uri) => cdxjLine(uri, pick));
  write("odd.cdxj", odd.join(""));
  write("unsorted.cdxj", a.slice(0, 900).reverse().join(""));
  write(
    "bad.cdxj",
    `${a.slice(0, 50).join("")}com,example)/ 2020 {"url":\nnonsense\n${a.slice(50, 99).join("")}`,
  );
  write(
    "deep.cdxj",
    `com,a)/ 20200101000000 {"x":${"[".repeat(64)}${"]".repeat(64)},"url":"http://a.com/"}\n`,
  );
  write("empty.cdxj", "");
  const zipped = gzipSync(a.join(""));
  write("cut.cdxj.gz", zipped.subarray(0, zipped.length >> 1));
  const rows = held.slice(0, 300);
  write(
    "nine.cdx",
    ` CDX N b a m s k r V g\n${rows.map((uri, i) => `com,x)/ 20110203040506 ${uri.replaceAll(" ", "+")} text/html 200 S${i} - ${i} f.warc.gz\n`).join("")}`,
  );
  write(
    "eleven.cdx",
    ` CDX N b a m s k r M S V g\n${rows.map((uri, i) => `- 20110203040506 ${uri} text/html 200 S${i} - - ${i} ${i} f.warc.gz\n`).join("")}`,
  );
  write(
    "old.cdxj",
    'com,example)/a?b=1 20100101000000 {"mime":"text/html","status":"200"}\ncom,example,www)/c 20100101000000 {"status":"200"}\nhttp://example.org/ 20100101000000 {}\n',
  );
  write("uris.txt", `${rows.join("\n")}\n`);
  write(
    "api.json",
    JSON.stringify([
      ["urlkey", "timestamp", "original", "mimetype", "statuscode"],
      ...rows.slice(0, 90).map((uri) => ["-", "20120101000000", uri, "text/html", "200"]),
    ]),
  );
  write(
    "timemap.link",
    `<http://example.com/>; rel="original",\n<http://archive.example/web/20140101000000/http://example.com/>; rel="memento"; datetime="Wed, 01 Jan 2014 00:00:00 GMT",\n<http://archive.example/web/20150101000000/http://example.com/>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"\n`,
  );
  const body = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>x";
  write(
    "a.warc",
    rows
      .slice(0, 60)
      .map(
        (uri, i) =>
          `WARC/1.0\r\nWARC-Type: ${["response", "revisit", "request", "metadata"][i % 4] ?? ""}\r\nWARC-Target-URI: ${uri}\r\nWARC-Date: 2013-05-06T07:08:09Z\r\nWARC-Record-ID: <urn:uuid:${i}>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: ${body.length}\r\n\r\n${body}\r\n\r\n`,
      )
      .join(""),
  );
  write(
    "voids.ukvs",
    `${HEAD}${FIELDS}${META}com,example)/ 3\ncom,example)/* 20+/7\ncom,example)/a/* 0\ncom,example)/a/b/* 5\ncom,example)/open/* 12+\ncom,example,* 40~/9\ncom,example,sub)/* 0\norg,* 7\norg,none,* 0\norg,none,some)/x 1-\n`,
  );
  write(
    "authors.ukvs",
    `!context ["https://git.io/mementomap"]\n${FIELDS}com,cnn) 4\ncom,cnn)/world 2\ncom,cnn,* 30\nde,münchen)/straße 1\norg,example)/* 3/1\n`,
  );
  write("disordered.ukvs", `${HEAD}${FIELDS}org,b)/ 1\ncom,a)/ 2\nnet,c)/ 1\n`);
  write("bad-row.ukvs", `${HEAD}${FIELDS}com,a)/ 2\ncom,b)/ many\n`);
  write("twice.ukvs", `${HEAD}${FIELDS}com,a)/ 2\ncom,a)/ 3\ncom,b)/ 1\n`);
  write("cut.ukvs.gz", gzipSync(`${HEAD}${FIELDS}com,a)/ 2\n`).subarray(0, 60));
  write("cut.packed", new Uint8Array(100));

  write("held.txt", `${held.join("\n")}\n`);
  write("asked.txt", `${uris(4, 20_000).join("\n")}\n`);
  write("beside.txt", `${beside(held).join("\n")}\n`);
  write("odd.txt", `${[...ODD, ...beside(ODD)].join("\n")}\n`);
  write(
    "voids.txt",
    "http://example.com/\nhttp://example.com/a\nhttp://example.com/a/b\nhttp://example.com/a/b/c\nhttp://example.com/open\nhttp://example.com/open/x?y\nhttp://sub.example.com/\nhttp://x.sub.example.com/\nhttp://other.example.com/\nhttp://org/\nhttp://none.org/\nhttp://some.none.org/x\nhttp://some.none.org/y\nhttp://net/\n",
  );
  write(
    "surts.txt",
    "com,example)/\ncom,site0)/\ncom,site0)\ncom,site0)/news\norg,site1)/*\ncom,site0)/news?id=1\n)/nothing\ncom,site0,www)/\n",
  );
  writeReal(write);
}

/** Parents, children, siblings and other spellings of URIs. */
function beside(held: readonly string[]): string[] {
  return held.flatMap((uri, i) => [
    [
      uri.replace(/\/[^/]*$/, "/"),
      `${uri}/x`,
      uri.replace("://", "://www."),
      uri.replace(/\?.*/, ""),
      `${uri}?x=1`,
      uri.toUpperCase().replace(/^HTTPS?/, "http"),
    ][i % 6] ?? "",
  ]);
}

function writeReal(write: (name: string, content: string | Uint8Array) => void): void {
  if (!existsSync(DATA)) return;
  const found: string[] = [];
  for (const name of readdirSync(join(DATA, "cdx-real"))) {
    const bytes = readFileSync(join(DATA, "cdx-real", name));
    write(`real-${name}`, bytes);
    for (const match of (name.endsWith(".gz") ? "" : bytes.toString("latin1")).matchAll(
      /https?:\/\/[^\s",]+/g,
    ))
      found.push(match[0]);
  }
  write("real-held.txt", `${found.join("\n")}\n`);
  const lines = gunzipSync(readFileSync(join(DATA, "eot-a.holdings.tsv.gz")))
    .toString()
    .split("\n");
  const some = lines.slice(0, -1).filter((_, i) => i % 7 === 0);
  const rows = new Map<string, number>();
  for (const line of some) {
    const key = line.slice(0, line.indexOf("\t")).replace(/\?.*/, "");
    if (!/[^!-~]/.test(key)) rows.set(key, (rows.get(key) ?? 0) + 1);
  }
  const sorted = [...rows].sort(([x], [y]) => (x < y ? -1 : 1));
  write(
    "eot.ukvs",
    `${HEAD}${FIELDS}${META}${sorted.map(([key, count]) => `${key} ${count}\n`).join("")}`,
  );
  const held = some.map((line) => line.slice(line.indexOf("\t") + 1));
  write("eot-held.txt", `${held.join("\n")}\n`);
  const nominated = gunzipSync(readFileSync(join(DATA, "eot-a.nominations.tsv.gz")))
    .toString()
    .split("\n")
    .slice(0, -1);
  write(
    "eot-asked.txt",
    `${[...held, ...nominated.map((line) => line.slice(line.indexOf("\t") + 1))].join("\n")}\n`,
  );
}
