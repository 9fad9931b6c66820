import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLE_MAP, serving } from "../support/serving.ts";

const EXECUTABLE = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

describe.skipIf(!existsSync(EXECUTABLE))("the page in Chromium, without JavaScript", () => {
  let browser: Browser;
  beforeAll(async () => {
    const args = [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ];
    browser = await chromium.launch({ executablePath: EXECUTABLE, args });
  });
  afterAll(() => browser.close());

  it("looks a URL up and shows which key decided", async () => {
    const { url } = await serving();
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(url);
    expect(await page.title()).toBe("Example Archive · MementoMap");
    await page.fill("#url", "https://arxiv.org/pdf/1234?a=b&c=d");
    await page.click("button");
    expect(await page.inputValue("#url")).toBe("https://arxiv.org/pdf/1234?a=b&c=d");
    expect(await page.textContent(".verdict")).toBe("Absent");
    expect(await page.textContent(".decided")).toContain("org,arxiv)/pdf/*");
    await page.fill("#url", "arxiv.org/abs/ä ö");
    await page.press("#url", "Enter");
    expect(await page.textContent(".verdict")).toBe("Present");
    expect(await page.textContent(".decided")).toContain("org,arxiv)/*");
    await page.close();
  });

  it("shows totals, domains and downloads, and asks no other site", async () => {
    const { url } = await serving(EXAMPLE_MAP, { pageRecords: 2 });
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(url);
    expect(requests[0]).toBe(`${url}/`);
    const isOwn = (request: string): boolean =>
      request.startsWith("data:") || request.startsWith(`${url}/`);
    expect(requests.filter((request) => !isOwn(request))).toEqual([]);
    expect(complaints).toEqual([]);
    const facts = await page.textContent(".facts");
    expect(facts).toContain("54,321");
    expect(facts).toContain("3 Sep 2018");
    expect(await page.locator("tbody th").allTextContents()).toEqual(["org", "com", "uk"]);
    expect(await page.getAttribute('link[rel="mementomap"]', "href")).toBe(
      "/.well-known/mementomap",
    );
    const downloading = page.waitForEvent("download");
    await page.click("text=The whole map");
    expect((await downloading).suggestedFilename()).toBe("mementomap.ukvs");
    await page.click("summary");
    expect(await page.locator(".pages a").count()).toBe(3);
    await context.close();
  });

  it.each([
    ["light", 390],
    ["dark", 390],
    ["light", 1280],
    ["dark", 1280],
  ] as const)("fits, and can be read: %s, %d wide", async (colorScheme, width) => {
    const { url } = await serving();
    const viewport = { width, height: 800 };
    const page = await browser.newPage({ colorScheme, viewport, javaScriptEnabled: false });
    await page.goto(`${url}/?url=https://arxiv.org/${"long".repeat(60)}`);
    const measured = await page.evaluate(`({
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      styles: ["body", ".lede", ".hint", ".decided", ".verdict", "button"].map((name) => {
        let element = document.querySelector(name);
        const { color } = getComputedStyle(element);
        let paper = "rgba(0, 0, 0, 0)";
        while (paper === "rgba(0, 0, 0, 0)" && element !== null) {
          paper = getComputedStyle(element).backgroundColor;
          element = element.parentElement;
        }
        return { name, color, paper };
      }),
    })`);
    const { overflow, styles } = measured as {
      overflow: number;
      styles: { name: string; color: string; paper: string }[];
    };
    expect(overflow).toBe(0);
    for (const { name, color, paper } of styles) {
      expect([name, contrast(color, paper) >= 4.5]).toEqual([name, true]);
    }
    await page.close();
  });

  it("is read by pages of other sites: map, range, lookup", async () => {
    const { url } = await serving();
    const other = await serving(EXAMPLE_MAP);
    const page = await browser.newPage({ bypassCSP: true });
    await page.goto(other.url);
    const answers = await page.evaluate(`(async () => {
      const map = await fetch("${url}/.well-known/mementomap", { headers: { Range: "bytes=0-7" } });
      const lookup = await fetch("${url}/lookup?url=http://arxiv.org/");
      return [map.status, await map.text(), map.headers.get("link"), (await lookup.json()).present];
    })()`);
    expect(answers).toEqual([206, "!context", '</.well-known/mementomap>; rel="mementomap"', true]);
    await page.close();
  });
});

/** The ratio of WCAG 2. */
function contrast(color: string, paper: string): number {
  const [light, dark] = [luminance(color), luminance(paper)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [r, g, b] = (color.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
