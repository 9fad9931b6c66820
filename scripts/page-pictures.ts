// Takes the screenshots in docs/pictures/: of every view, with sample archives and local servers that simulate
// archives. Requires a build and Chromium (or the executable in CHROMIUM).
//
//   npx tsx scripts/page-pictures.ts
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import puppeteer from "puppeteer-core";
import { CHROMIUM } from "../test/support/chromium.ts";
import { DEMO_URL, demoArchives } from "../test/support/demo-archives.ts";

const BIN = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const PICTURES = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const run = promisify(execFile);

/** Starts a server; returns its address and a function that stops it. */
async function started(...args: string[]): Promise<{ url: string; end: () => void }> {
  const child = spawn(process.execPath, [BIN, ...args, "--port", "0"]);
  child.stderr.resume();
  for await (const text of child.stdout) {
    const [url] = /http:\S+/.exec(String(text)) ?? [];
    if (url !== undefined) return { url, end: () => child.kill() };
  }
  throw new Error(`${args.join(" ")}: not started`);
}

interface Picture {
  readonly name: string;
  readonly url: string;
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  /** Whether to type the demo address without submitting it. */
  readonly isTyped?: boolean;
  /** The selector to wait for before the screenshot. */
  readonly ready: string;
}

const folder = await mkdtemp(join(tmpdir(), "mementomap-pictures-"));
const file = (name: string): string => join(folder, name);
const mementomap = (...args: string[]): Promise<unknown> =>
  run(process.execPath, [BIN, ...args, "-q"]);

/** A map of a sample archive. */
async function sampleMap(
  name: string,
  id: string,
  index: string,
  ...more: string[]
): Promise<string> {
  const [full, map] = [file(`${id}-full.ukvs`), file(`${id}.ukvs`)];
  const about = ["--id", `https://${id}.example/`, "--name", name];
  await mementomap("generate", index, ...about, ...more, "-o", full);
  await mementomap(
    "compact",
    full,
    "--relative-cost",
    "12%",
    "--misses",
    file("misses"),
    "-o",
    map,
  );
  return map;
}

const [index, other] = [file("index.cdxj"), file("other.cdxj")];
await mementomap("sample", "--lines", "200000", "-o", index);
await mementomap("sample", "--lines", "60000", "--seed", "2", "-o", other);
await mementomap("sample", "--lines", "200000", "--uris", "20000", "-o", file("misses"));
const maps = [
  await sampleMap("Sample Archive 2017", "archive", index),
  await sampleMap("Sample Archive 2013", "older", index, "--to", "2013"),
  await sampleMap("Another Archive", "other", other),
];
const demo = await demoArchives();
const publisher = await started("serve", ...maps);
const aggregator = await started(
  "aggregate",
  "--serve",
  "--archives",
  demo.list,
  "--workers",
  "1",
  "--recall",
  "0.98",
);
const lookups = Array.from({ length: 240 }, (_, i) =>
  i % 4 === 0 ? `http://site${i}.example.com/` : `http://news.example.org/2016/${i}`,
);
// Concurrently, as clients do.
await Promise.all(
  Array.from({ length: 12 }, async (_, client) => {
    for (const original of lookups.filter((__, i) => i % 12 === client)) {
      await (await fetch(`${aggregator.url}/timemap/link/${original}`)).text();
    }
  }),
);

const query = `?url=${encodeURIComponent(DEMO_URL)}`;
const pictures: readonly Picture[] = [
  { name: "find", url: aggregator.url, isTyped: true, ready: ".finding .held" },
  { name: "time", url: `${aggregator.url}/${query}`, height: 1180, ready: "progress.is-over" },
  { name: "explore", url: `${publisher.url}/explore?map=archive`, height: 960, ready: ".tile" },
  {
    name: "compare",
    url: `${publisher.url}/compare?map=older&map=archive`,
    height: 1080,
    ready: ".upset",
  },
  { name: "about", url: `${aggregator.url}/about`, height: 1180, ready: ".archives" },
  {
    name: "find-phone",
    url: aggregator.url,
    isTyped: true,
    width: 390,
    height: 800,
    scheme: "dark",
    ready: ".finding .held",
  },
  {
    name: "time-phone",
    url: `${aggregator.url}/${query}`,
    width: 390,
    height: 800,
    scheme: "dark",
    ready: "progress.is-over",
  },
];

await mkdir(PICTURES, { recursive: true });
const browser = await puppeteer.launch({
  executablePath: CHROMIUM ?? "chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  for (const picture of pictures) {
    const { name, url, width = 1280, height = 900, scheme = "light", ready } = picture;
    const page = await browser.newPage();
    await page.setViewport({ width, height, deviceScaleFactor: width < 500 ? 2 : 1.25 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(url);
    if (picture.isTyped === true) await page.type("#url", DEMO_URL);
    await page.waitForSelector(ready);
    await new Promise((resolve) => setTimeout(resolve, 600)); // until animations have ended
    await page.screenshot({ path: `${PICTURES}${name}.webp`, type: "webp", quality: 82 });
    await page.close();
  }
} finally {
  await browser.close();
  publisher.end();
  aggregator.end();
  demo.close();
  await rm(folder, { recursive: true });
}
