import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_URL, demoArchives } from "../../support/demo-archives.ts";
import { servingDemo } from "../../support/demo-service.ts";
import { BROWSERS, launchBrowser, openPage, until } from "../../support/page-browsers.ts";

describe.skipIf(!BROWSERS.includes("chromium"))("the speed of the page", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser("chromium", "light");
  });

  afterAll(() => browser.close());

  it("answers within 100 ms after the last key", async () => {
    const url = await servingDemo(await demoArchives());
    const { page } = await openPage(browser, `${url}/?url=a.example`, {
      width: 1440,
      scheme: "light",
    });
    await until(page, "document.querySelector('.findings') !== null");
    // From the input event until the answer is in the document; the best of several, as the machine may be busy.
    const times = (await page.evaluate(`(async () => {
      const input = document.querySelector("#url");
      const times = [];
      for (let i = 0; i < 8; i += 1) {
        const isFound = i % 2 === 0;
        const startedAt = performance.now();
        input.value = isFound ? ${JSON.stringify(DEMO_URL)} : "de.berlin.example";
        input.dispatchEvent(new Event("input", { bubbles: true }));
        while ((document.querySelector(".finding .held") !== null) !== isFound && performance.now() - startedAt < 5000) {
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        times.push(performance.now() - startedAt);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return times;
    })()`)) as number[];
    expect(Math.min(...times)).toBeLessThanOrEqual(100);
  });

  it("stays fluid with 100,000 mementos", async () => {
    const url = await servingDemo(await demoArchives(100_000));
    const address = `${url}/?url=${encodeURIComponent(DEMO_URL)}`;
    const { page, faults } = await openPage(browser, address, { width: 1440, scheme: "light" });
    await until(page, "document.querySelector('progress.is-over') !== null");
    const line = await page.$eval(".progress-line", (element) => element.textContent);
    expect(Number(line.replace(/ mementos.*/, "").replaceAll(",", ""))).toBeGreaterThan(99_000);
    expect(await page.$$eval(".row", (rows) => rows.length)).toBeLessThan(60);
    // From a move of the slider until the next frame: choosing, scrolling and drawing; most of them, as above.
    const times = (await page.evaluate(`(async () => {
      const slider = document.querySelector(".moment");
      const times = [];
      for (let i = 1; i <= 8; i += 1) {
        const startedAt = performance.now();
        slider.value = String(Number(slider.min) + (i / 9) * (Number(slider.max) - Number(slider.min)));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        times.push(performance.now() - startedAt);
      }
      return times;
    })()`)) as number[];
    expect(times.toSorted((a, b) => a - b)[3]).toBeLessThan(100);
    // Browsers refuse to change the address hundreds of times: it follows when the slider rests.
    await page.evaluate(`(async () => {
      const slider = document.querySelector(".moment");
      for (let i = 1; i <= 300; i += 1) {
        slider.value = String(Number(slider.min) + (i / 301) * (Number(slider.max) - Number(slider.min)));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      }
    })()`);
    const chosen = await page.evaluate(`document.querySelector(".moment").value`);
    const at = new Date(Number(chosen)).toISOString();
    await until(page, `new URLSearchParams(location.search).get("at") === ${JSON.stringify(at)}`);
    expect(faults).toEqual([]);
  });
});
