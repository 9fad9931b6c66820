import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { formatAgo, formatMs } from "../../../src/aggregate/service/about-page.ts";
import { formatShare } from "../../../src/page/text-format.ts";
import { aggregating, localArchive, plainArchive } from "../../support/aggregating.ts";
import { axeFaults } from "../../support/axe.ts";
import { CHROMIUM, launchChromium } from "../../support/chromium.ts";

describe("words of the dashboard", () => {
  it.each([
    [0, "0 %"],
    [1, "100 %"],
    [0.862, "86 %"],
    [0.054, "5.4 %"],
    [0.9565, "95.7 %"],
    [0.0012, "0.12 %"],
    [0.00001, "< 0.01 %"],
    [0.99999, "> 99.99 %"],
    [0.9995, "99.95 %"],
  ])("writes the share %d as %s", (share, text) => {
    expect(formatShare(share)).toBe(text);
  });

  it("writes times", () => {
    const day = 86_400_000;
    expect([0, 59_000, 60_000, 7_300_000, day, 3.7 * day].map(formatAgo)).toEqual([
      "0 s",
      "59 s",
      "1 min",
      "2 hours",
      "1 day",
      "3 days",
    ]);
    expect([1.26, 120.4, 1400].map(formatMs)).toEqual(["1.3 ms", "120 ms", "1.4 s"]);
  });
});

describe("the bar of requests", () => {
  const page = async (url: string): Promise<string> =>
    (await fetch(`${url}/about`, { headers: { Accept: "text/html" } })).text();

  it("is empty before the first request, and says so", async () => {
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"])]);
    const before = await page(url);
    expect(before).toContain("No requests yet.");
    expect(before).toContain('<svg class="stack empty"');
    expect(before).not.toContain('<rect class="spared" width="100%" height="100%" />');
    await fetch(`${url}/timemap/link/http://example.org/`);
    const after = await page(url);
    expect(after).not.toContain("No requests yet.");
    expect(after).toContain('aria-label="0 % of requests spared"');
    expect(after).toContain('<rect class="asked" width="100.00%" height="100%" />');
  });
});

describe.skipIf(CHROMIUM === undefined)("the dashboard", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
  });

  afterAll(() => browser.close());

  it.each([1280, 390])(
    "fits %d pixels, asks no other site, and names every archive",
    async (width) => {
      const ill = await localArchive(
        "ill",
        (_request, response) => void response.writeHead(500).end(),
      );
      const evil = await plainArchive("evil", []);
      const named = { ...evil, archive: { ...evil.archive, name: "<script>alert(1)</script>" } };
      const { url } = await aggregating([
        await plainArchive("fine", ["20150101000000"]),
        ill,
        named,
      ]);
      await fetch(`${url}/timemap/link/http://example.org/`);
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      const requests: string[] = [];
      const faults: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      page.on("console", (message) => faults.push(message.text()));
      page.on("pageerror", (error) => faults.push(error.message));
      await page.goto(`${url}/about`);
      const others = requests.filter((each) => !each.startsWith("data:") && !each.startsWith(url));
      expect(others).toEqual([]);
      expect(faults).toEqual([]);
      // The application takes the place of what the server wrote, and asks for what it shows.
      await page.locator(".archives tbody th").first().waitFor();
      expect(await page.locator("tbody th").allTextContents()).toEqual(
        expect.arrayContaining([
          "Archive finefine",
          "Archive illill",
          "<script>alert(1)</script>evil",
        ]),
      );
      const text = await page.locator("main").innerText();
      expect(text).toMatch(/awake/);
      expect(text).toMatch(/failed once/);
      const overflow =
        "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(overflow)).toBe(0);
      await page.close();
    },
  );

  it.each(["light", "dark"] as const)("has no fault that axe-core finds: %s", async (scheme) => {
    const ill = await localArchive(
      "ill",
      (_request, response) => void response.writeHead(500).end(),
    );
    const { url } = await aggregating([await plainArchive("fine", ["20150101000000"]), ill]);
    await fetch(`${url}/timemap/link/http://example.org/`);
    for (const width of [390, 1440]) {
      const viewport = { width, height: 900 };
      const page = await browser.newPage({ viewport, colorScheme: scheme, bypassCSP: true });
      await page.goto(`${url}/about`);
      expect(await axeFaults(page)).toEqual([]);
      await page.close();
    }
  });
});
