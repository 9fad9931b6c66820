import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Browser, Page } from "playwright-core";
import { listen, type Listening } from "../../src/http/listen.ts";
import { createPublisher, type Publisher } from "../../src/publish/serve/publisher.ts";
import { axeFaults } from "../support/axe.ts";
import { CHROMIUM, launchChromium } from "../support/chromium.ts";
import { packedBytes } from "../support/packed-file.ts";

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

describe.skipIf(CHROMIUM === undefined)("explore, compare and dropped maps", () => {
  let browser: Browser;
  let publisher: Publisher;
  let server: Listening;
  const faults: string[] = [];

  beforeAll(async () => {
    const packed = await packedBytes();
    const files = Object.entries({ old: OLD, new: NEW, packed }).map(([id, content]) => ({
      id,
      bytes: typeof content === "string" ? Buffer.from(content) : content,
    }));
    publisher = await createPublisher(files, { reloadEveryMs: 0 });
    server = await listen(publisher, { port: 0 });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser.close();
    await server.stop();
    await publisher.close();
  });

  async function open(
    path: string,
    options: Parameters<Browser["newPage"]>[0] = {},
  ): Promise<Page> {
    const page = await browser.newPage({ locale: "en", reducedMotion: "reduce", ...options });
    page.setDefaultTimeout(10_000);
    onTestFinished(() => page.close());
    faults.length = 0;
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("dialog", (dialog) => {
      faults.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(server.url + path);
    return page;
  }

  const overflow = (page: Page): Promise<number> =>
    page.evaluate<number>(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );

  const VIEWS = [
    ["/explore", ".parts tbody tr"],
    ["/explore?map=old&prefix=org%2Chostile%29%2F", ".parts tbody tr"],
    ["/explore?map=old&search=example", ".parts tbody tr"],
    ["/explore?map=packed", ".packed"],
    ["/compare?map=old&map=new", ".upset"],
  ] as const;

  it.each([
    [390, "light"],
    [768, "dark"],
    [1440, "light"],
    [1440, "dark"],
  ] as const)("are accessible and fit at %d px, %s", async (width, colorScheme) => {
    for (const [path, shown] of VIEWS) {
      const page = await open(path, {
        viewport: { width, height: 800 },
        colorScheme,
        bypassCSP: true,
      });
      await page.waitForSelector(shown);
      expect([path, await overflow(page)]).toEqual([path, 0]);
      expect([path, await axeFaults(page)]).toEqual([path, []]);
      expect(faults).toEqual([]);
    }
  });

  it("goes into parts by click, by key and by the table, and back", async () => {
    const page = await open("/explore?map=old", { viewport: { width: 1200, height: 800 } });
    await page.waitForSelector(".tile");
    await page.locator(".tile", { hasText: "com" }).first().click();
    await page.waitForURL(/prefix=com%2C$/);
    await page.getByRole("link", { name: /example\.com/ }).click();
    await page.waitForURL(/prefix=com%2Cexample%2C$/);
    await page.waitForSelector("code:text-is('com,example,')");
    expect(await page.locator(".names code").allTextContents()).toEqual([
      "*.example.com",
      "com,example,",
    ]);
    await page.locator(".tile").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/prefix=com%2Cexample%29%2F$/);
    await page.locator(".tile").first().focus();
    await page.keyboard.press("Backspace");
    await page.waitForURL(/prefix=com%2Cexample%2C$/);
    await page.getByRole("link", { name: "Whole map" }).click();
    await page.waitForURL((url) => !url.search.includes("prefix"));
    await page.goBack();
    await page.waitForURL(/prefix=com%2Cexample%2C$/);
    expect(faults).toEqual([]);
  });

  it("sorts and continues its table, searches, and speaks German", async () => {
    const page = await open("/explore?map=old&prefix=net%2Cmany%29%2F", {
      locale: "de",
      viewport: { width: 1200, height: 800 },
    });
    await page.waitForSelector(".parts tbody tr");
    expect(await page.locator(".parts tbody tr").count()).toBe(200);
    await page.getByRole("button", { name: "Mehr zeigen" }).click();
    await page.locator(".parts tbody tr").nth(299).waitFor();
    expect(await page.locator(".parts tbody tr").count()).toBe(300);
    await page.getByRole("button", { name: "Teil" }).click();
    expect(await page.locator(".parts tbody tr").first().textContent()).toContain("page-1000");
    expect(await page.locator("th[aria-sort=ascending]").count()).toBe(1);
    await page.getByLabel("In diesem Teil suchen").fill("page-125");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=10 Teile haben „page-125“ im Namen.");
    expect(faults).toEqual([]);
  });

  it("shows hostile names as text", async () => {
    const page = await open("/explore?map=old&prefix=org%2Chostile%29%2F");
    await page.waitForSelector(".parts tbody tr");
    const names = await page.locator(".part-name").allTextContents();
    expect(names).toContain("<script>alert(2)</");
    expect(names).toContain("⟨U+202E⟩gpj.exe");
    expect(names).toContain("javascript:alert(3)");
    expect(names.some((name) => name.startsWith("xxxx") && name.length < 200)).toBe(true);
    await page.goto(`${server.url}/explore?map=old&prefix=com%2C`);
    await page.waitForSelector(".part-name:text-is('bücher.com')");
    expect(await page.locator(".map-bar option").first().textContent()).toContain("<script>");
    expect(faults).toEqual([]);
  });

  it("compares maps: growth, overlap, domains", async () => {
    const page = await open("/compare?map=old&map=new");
    await page.waitForSelector(".upset");
    const facts = await page.locator(".compared .facts dd").allTextContents();
    expect(facts.slice(0, 6)).toEqual(["+1", "-306", "1", "0", "1", "1"]);
    expect(await page.locator(".set-dot.may").count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Only in New" }).click();
    await page.getByRole("link", { name: "added.com" }).click();
    await page.waitForURL(/\/explore\?map=new&prefix=com%2Cadded%2C$/);
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
    await page.setInputFiles("input[type=file]", {
      name: "mine.ukvs",
      mimeType: "text/plain",
      buffer: Buffer.from(pack(mapOf("Mine", ["com,mine)/ 77", "com,example)/ 1"]))),
    });
    await page.waitForURL(/map=mine\.ukvs$/);
    await page.waitForSelector("td:text-is('77'), .count:text-is('77')");
    expect(sent.filter((one) => !one.startsWith("GET /page/"))).toEqual([]);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.waitForSelector(".upset");
    expect(await page.locator(".upset thead th").allTextContents()).toContain("Mine (mine.ukvs)");
    expect(faults).toEqual([]);
  });

  it("says what is wrong with a file", async () => {
    const page = await open("/explore");
    await page.setInputFiles("input[type=file]", {
      name: "no.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("<html>not a map</html>"),
    });
    await page.waitForSelector("text=no.txt could not be opened");
    expect(await page.locator(".drop-state").textContent()).toContain("not a map");
  });
});
