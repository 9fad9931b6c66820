import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  aggregateProcess,
  exampleProcess,
  exampleSettings,
  writeList,
} from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { ROOT } from "../support/code-blocks.ts";
import { readExposition } from "../support/exposition.ts";
import { followLinks } from "../support/follow-links.ts";
import { alertRules, dashboard, dashboardQueries } from "../support/monitoring.ts";
import { scratchDir } from "../support/scratch.ts";

/** Names of metrics in PromQL. */
function metricsIn(text: string): Set<string> {
  return new Set(text.match(/\b(?:mementomap|process|nodejs)_\w+/g));
}

it("has a dashboard and alerts of metrics that the service exposes, with labels they have", async () => {
  const archives = writeList([await plainArchive("one", ["20050101000000"])]);
  const map = join(scratchDir(), "one.ukvs");
  writeFileSync(map, "com,* 5\norg,* 5\n");
  const options = ["--workers", "2", "--map", `one=${map}`, "--recall", "0.98"];
  const { url } = await aggregateProcess(["--archives", archives, ...options]);
  await (await fetch(`${url}/timemap/link/http://example.org/`)).text();
  const families = readExposition(await (await fetch(`${url}/metrics`)).text());
  const exposed = new Map<string, string>();
  for (const { name, type, samples } of families.values()) {
    const labels = samples.map((sample) => `${sample.labels},`).join("");
    const suffixes = type === "histogram" ? ["_bucket", "_count", "_sum"] : [""];
    for (const suffix of suffixes) exposed.set(name + suffix, labels);
  }
  const texts = [...dashboardQueries(), ...alertRules().map(({ expr }) => expr)];
  const named = [...new Set(texts.flatMap((text) => [...metricsIn(text)]))];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !exposed.has(name))).toEqual([]);
  const labelled = texts.flatMap((text) =>
    Array.from(text.matchAll(/\b(mementomap_\w+)\{([^}]*)\}/g), ([, name = "", matchers = ""]) =>
      Array.from(matchers.matchAll(/(\w+)(?:=~?|!=)"/g), ([, label = ""]) => ({ name, label })),
    ).flat(),
  );
  const isKnown = ({ name, label }: { name: string; label: string }): boolean =>
    // Prometheus adds the first; the second has no value before there are samples.
    label === "instance" || label === "bound" || exposed.get(name)?.includes(`${label}="`) === true;
  expect(labelled.filter((each) => !isKnown(each))).toEqual([]);
});

it("has settings and proxies that fit: the same path and port, and links that lead back", async () => {
  const { port, base } = exampleSettings();
  const [service, path] = [`127.0.0.1:${String(port)}`, String(base)];
  for (const [file, ...lines] of [
    ["nginx.conf", `location ${path}/ {`, `proxy_pass http://${service}$request_uri;`],
    ["apache.conf", `<Location ${path}/>`, `ProxyPass http://${service}${path}/ nocanon`],
    ["Caddyfile", `handle ${path}/* {`, `reverse_proxy ${service} {`],
  ] as const) {
    const text = readFileSync(`${ROOT}deploy/${file}`, "utf8");
    for (const line of lines) expect(text).toContain(line);
  }
  const { url } = await exampleProcess([await plainArchive("one", ["20050101000000"])]);
  // As these proxies ask.
  const headers = {
    "X-Forwarded-For": "192.0.2.7",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "aggregator.example.org",
  };
  const site = "https://aggregator.example.org";
  await followLinks(`${site}${path}/`, headers, (link) => link.replace(site, url));
});

it("has a dashboard whose panels have ids, queries and places of their own", () => {
  const { panels } = dashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
  // The grid has 24 columns.
  for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  for (const { type, targets } of panels) expect((targets ?? []).length > 0).toBe(type !== "row");
});

it("has alerts with a severity and a summary, and a test for each", () => {
  const tests = readFileSync(new URL("../peers/alert-rules.yml", import.meta.url), "utf8");
  for (const { alert, text } of alertRules()) {
    expect(text).toMatch(/severity: (?:critical|warning)/);
    expect(text).toContain("summary:");
    expect(tests.split(`alertname: ${alert}`).length).toBe(3);
  }
});
