import { existsSync } from "node:fs";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { expect } from "vitest";
import { axeFaults } from "./axe.ts";
import { CHROMIUM } from "./chromium.ts";

const FIREFOX_PLACES = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];

/** The path of Firefox, or undefined if it is not installed; `FIREFOX` overrides it. */
const FIREFOX = [process.env["FIREFOX"] ?? "", ...FIREFOX_PLACES].find(
  (path) => path !== "" && existsSync(path),
);

export type Scheme = "light" | "dark";
export type BrowserName = "chromium" | "firefox";

const PATHS: Readonly<Record<BrowserName, string | undefined>> = {
  chromium: CHROMIUM,
  firefox: FIREFOX,
};

/** The installed browsers. Puppeteer drives Firefox by WebDriver BiDi. */
export const BROWSERS: readonly BrowserName[] = (["chromium", "firefox"] as const).filter(
  (name) => PATHS[name] !== undefined,
);

if (BROWSERS.length < 2) {
  process.stderr.write(
    `browsers: only ${BROWSERS.join(", ") || "none"} found; others are skipped\n`,
  );
}

export function launchBrowser(name: BrowserName, scheme: Scheme): Promise<Browser> {
  const executablePath = PATHS[name] ?? "";
  return name === "firefox"
    ? puppeteer.launch({
        browser: "firefox",
        executablePath,
        extraPrefsFirefox: { "ui.systemUsesDarkTheme": scheme === "dark" ? 1 : 0 },
      })
    : puppeteer.launch({
        executablePath,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
        ],
      });
}

/** A page under test, and its errors. */
export interface TestedPage {
  readonly page: Page;
  readonly faults: string[];
  /** Requests to third-party sites. */
  readonly strays: string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  { width, scheme }: { readonly width: number; readonly scheme: Scheme },
): Promise<TestedPage> {
  const page = await browser.newPage();
  const [faults, strays]: [string[], string[]] = [[], []];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warn") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const to = request.url();
    if (/^https?:/.test(to) && new URL(to).origin !== new URL(url).origin) strays.push(to);
  });
  await page.setViewport({ width, height: 900 });
  if ((await browser.version()).toLowerCase().startsWith("chrome")) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  }
  await page.goto(url);
  return { page, faults, strays };
}

/** Scrolls an element (HTML or SVG) into the middle of the window and focuses it. */
export async function focus(page: Page, selector: string): Promise<void> {
  const element = `document.querySelector(${JSON.stringify(selector)})`;
  await page.evaluate(`${element}.scrollIntoView({ block: "center" }); ${element}.focus()`);
}

/** Clicks the first link or button with this accessible name. */
export async function press(page: Page, role: "link" | "button", name: string): Promise<void> {
  await page.locator(`::-p-aria([role="${role}"][name="${name}"])`).click();
}

/** The text of every element that matches a selector. */
export async function textsOf(page: Page, selector: string): Promise<string[]> {
  return page.$$eval(selector, (found) => found.map((each) => String(each.textContent)));
}

/** Waits until an expression is true in the page. */
export async function until(page: Page, expression: string): Promise<void> {
  await page.waitForFunction(expression, { timeout: 20_000, polling: 50 });
}

/** Checks of every view: no overflow, no axe violations, no console errors. */
export async function expectSound({ page, faults, strays }: TestedPage): Promise<void> {
  const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  const wide = await page.evaluate(
    `${overflow} === 0 ? [] : [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.outerHTML.slice(0, 80))`,
  );
  expect(wide).toEqual([]);
  expect(await axeFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
  expect(strays).toEqual([]);
}
