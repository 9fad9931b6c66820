import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Browser, Page } from "puppeteer-core";
import { listen, type Listening } from "../../src/http/listen.ts";
import { createPublisher, type Publisher } from "../../src/publish/serve/publisher.ts";
import { CHROMIUM } from "../support/chromium.ts";
import { focus, launchBrowser, openPage, press, textsOf, until } from "../support/page-browsers.ts";
import { packedBytes } from "../support/packed-file.ts";
import { scratchDir } from "../support/scratch.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}\n';
const LONG = "x".repeat(2000);

function mapOf(name: string, rows: readonly string[]): string {
  const sorted = rows.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const meta = JSON.stringify({ type: "MementoMap", name });
  return `${HEAD}!meta ${meta}\n${sorted.map((row) => `${row}\n`).join("")}`;
}

const OLD = mapOf("Old <script>alert(1)</script>", [
  "com,example)/ 10",
  "com,example)/news/1 5",
  "com,example)/news/2 0",
  "com,example,www2)/* 40",
  "com,xn--bcher-kva)/ 3",
  "org,hostile)/<script>alert(2)</script> 7",
  "org,hostile)/%e2%80%aegpj.exe 6",
  "org,hostile)/javascript:alert(3) 5",
  `org,hostile)/${LONG} 4`,
  `org,${"y".repeat(2000)})/ 9`,
  ...Array.from({ length: 300 }, (_, i) => `net,many)/page-${1000 + i} ${1 + (i % 5)}`),
]);
const NEW = mapOf("New", [
  "com,example)/ 12",
  "com,added)/ 4",
  "com,example)/news/* 90",
  "de,x,* 8",
]);

/** Gives the page a file of the reader. */
async function choose(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  const path = join(scratchDir(), name);
  writeFileSync(path, bytes);
  await page.waitForSelector("input[type=file]");
  const input = await page.$("input[type=file]");
  await input?.uploadFile(path);
}

describe.skipIf(CHROMIUM === undefined)("explore, compare and dropped maps", () => {
  let browser: Browser;
  let publisher: Publisher;
  let server: Listening;
  let faults: string[] = [];

  beforeAll(async () => {
    const packed = await packedBytes();
    const files = Object.entries({ old: OLD, new: NEW, packed }).map(([id, content]) => ({
      id,
      bytes: typeof content === "string" ? Buffer.from(content) : content,
    }));
    publisher = await createPublisher(files, { reloadEveryMs: 0 });
    server = await listen(publisher, { port: 0 });
    browser = await launchBrowser("chromium", "light");
  });

  afterAll(async () => {
    await browser.close();
    await server.stop();
    await publisher.close();
  });

  async function open(path: string): Promise<Page> {
    const opened = await openPage(browser, server.url + path, { width: 1200, scheme: "light" });
    faults = opened.faults;
    opened.page.setDefaultTimeout(20_000);
    opened.page.on("dialog", (dialog) => {
      faults.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    onTestFinished(() => opened.page.close());
    return opened.page;
  }

  const isAt = (page: Page, pattern: RegExp): Promise<void> =>
    until(page, `${String(pattern)}.test(location.href)`);

  it("goes into parts by click, by key and by the table, and back", async () => {
    const page = await open("/explore?map=old");
    await page.waitForSelector(".tile");
    await page.evaluate(
      `[...document.querySelectorAll(".tile")].find((each) => each.textContent.includes("com")).dispatchEvent(new MouseEvent("click", { bubbles: true }))`,
    );
    await isAt(page, /prefix=com%2C$/);
    await page.locator(`.parts a ::-p-text(example.com)`).click();
    await isAt(page, /prefix=com%2Cexample%2C$/);
    await page.waitForSelector("code ::-p-text(com,example,)");
    expect(await textsOf(page, ".names code")).toEqual(["*.example.com", "com,example,"]);
    await focus(page, ".tile");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await isAt(page, /prefix=com%2Cexample%29%2F$/);
    // The new part is loaded after the address has changed; the focus is then on its first tile.
    await page.waitForSelector("code ::-p-text(com,example\\)/)");
    await until(page, "document.activeElement?.matches('.tile') === true");
    await page.keyboard.press("Backspace");
    await isAt(page, /prefix=com%2Cexample%2C$/);
    await press(page, "link", "Whole map");
    await until(page, "!location.search.includes('prefix')");
    await page.goBack();
    await isAt(page, /prefix=com%2Cexample%2C$/);
    expect(faults).toEqual([]);
  });

  it("sorts and continues its table, searches, and speaks German", async () => {
    const page = await open("/explore?map=old&prefix=net%2Cmany%29%2F");
    await page.waitForSelector(".settings-bar select:last-child");
    await page.select(".settings-bar select:last-child", "de");
    await until(page, "document.documentElement.lang === 'de'");
    await page.waitForSelector(".parts tbody tr");
    expect((await page.$$(".parts tbody tr")).length).toBe(200);
    await press(page, "button", "Mehr zeigen");
    await page.waitForSelector(".parts tbody tr:nth-child(300)");
    expect((await page.$$(".parts tbody tr")).length).toBe(300);
    await press(page, "button", "Teil");
    expect((await textsOf(page, ".parts tbody tr"))[0]).toContain("page-1000");
    expect((await page.$$("th[aria-sort=ascending]")).length).toBe(1);
    await page.type(`::-p-aria(In diesem Teil suchen)`, "page-125");
    await page.keyboard.press("Enter");
    await page.waitForSelector("::-p-text(10 Teile passen zu „page-125“.)");
    // The language is kept for the next page.
    await page.evaluate("localStorage.clear()");
    expect(faults).toEqual([]);
  });

  it("shows hostile names as text", async () => {
    const page = await open("/explore?map=old&prefix=org%2Chostile%29%2F");
    await page.waitForSelector(".parts tbody tr");
    const names = await textsOf(page, ".part-name");
    expect(names).toContain("<script>alert(2)</");
    expect(names).toContain("⟨U+202E⟩gpj.exe");
    expect(names).toContain("javascript:alert(3)");
    expect(names.some((name) => name.startsWith("xxxx") && name.length < 200)).toBe(true);
    await page.goto(`${server.url}/explore?map=old&prefix=com%2C`);
    await page.waitForSelector(".part-name ::-p-text(bücher.com)");
    expect((await textsOf(page, ".map-bar option"))[0]).toContain("<script>");
    expect(faults).toEqual([]);
  });

  it("compares maps: growth, overlap, domains", async () => {
    const page = await open("/compare?map=old&map=new");
    await page.waitForSelector(".upset");
    const facts = await textsOf(page, ".compared .facts dd");
    expect(facts.slice(0, 6)).toEqual(["+1", "-306", "1", "0", "1", "1"]);
    expect((await page.$$(".set-dot.may")).length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  it.each([
    ["text", (text: string): Uint8Array => Buffer.from(text)],
    ["gzip", (text: string): Uint8Array => gzipSync(text)],
  ])("opens a file of the reader, %s, in the browser", async (_, pack) => {
    const page = await open("/explore");
    await page.waitForSelector(".parts tbody tr");
    const sent: string[] = [];
    page.on("request", (request) =>
      sent.push(`${request.method()} ${new URL(request.url()).pathname}`),
    );
    await choose(
      page,
      "mine.ukvs",
      Buffer.from(pack(mapOf("Mine", ["com,mine)/ 77", "com,example)/ 1"]))),
    );
    await isAt(page, /map=mine\.ukvs$/);
    await page.waitForSelector("::-p-text(77)");
    expect(sent.filter((one) => !one.startsWith("GET /page/"))).toEqual([]);
    await press(page, "link", "Compare");
    await page.waitForSelector(".upset");
    expect(await textsOf(page, ".upset thead th")).toContain("Mine (mine.ukvs)");
    expect(faults).toEqual([]);
  });

  it("says what is wrong with a file", async () => {
    const page = await open("/explore");
    await choose(page, "no.txt", Buffer.from("<html>not a map</html>"));
    await page.waitForSelector("::-p-text(no.txt could not be opened)");
    expect((await textsOf(page, ".drop-state"))[0]).toContain("not a map");
  });
});
