import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { aggregateProcess, exampleSettings, writeList } from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { readExposition } from "../support/exposition.ts";
import { scratchDir } from "../support/scratch.ts";

const DAY_MS = 86_400_000;
const TIMEMAP = "/mementos/timemap/link/http://example.org/";

function writeMap(path: string, age: number): void {
  const updated = new Date(Date.now() - age).toISOString();
  const fields = '!fields {"keys":["surt"],"values":["frequency"]}';
  writeFileSync(path, `${fields}\n!meta {"updated_at":"${updated}"}\ncom,* 5\n`);
}

it.skipIf(process.platform === "win32")(
  "runs as an operator sets it up: settings, access log, metrics port, proxy, old map, SIGHUP",
  async () => {
    const folder = scratchDir();
    const [settings, log, map] = ["aggregator.json", "access.log", "one.ukvs"].map((name) =>
      join(folder, name),
    );
    writeMap(map, 91 * DAY_MS);
    const list = writeList([await plainArchive("one", ["20050101000000"])]);
    writeFileSync(
      settings,
      JSON.stringify({
        ...exampleSettings(),
        archives: list,
        port: 0,
        "access-log": log,
        "metrics-port": 0,
        map: `one=${map}`,
        sample: "0",
      }),
    );
    const { url: line, kill } = await aggregateProcess(["--config", settings, "--json"]);
    const { url, metrics } = JSON.parse(line) as { url: string; metrics: string };
    const ask = (): Promise<Response> =>
      fetch(`${url}${TIMEMAP}`, { headers: { "X-Forwarded-For": "192.0.2.7" } });
    const usable = async (): Promise<number | undefined> => {
      const text = await (await fetch(`${metrics}/metrics`)).text();
      const family = readExposition(text).get("mementomap_archive_map_usable");
      return family?.samples[0]?.value;
    };
    const lines = (path: string): string[] => {
      const text = existsSync(path) ? readFileSync(path, "utf8") : "";
      return text.split("\n").filter((each) => each.includes(TIMEMAP));
    };

    // The map is too old: its archive is asked. The client is who the proxy says it is.
    expect((await ask()).status).toBe(200);
    await expect.poll(() => lines(log)).toHaveLength(1);
    expect(lines(log)[0]).toMatch(/^192\.0\.2\.7 - - \[.*\] "GET \S+ HTTP\/1\.1" 200 /);
    expect(await usable()).toBe(0);
    const health: unknown = await (await fetch(`${metrics}/health`)).json();
    const problem = expect.objectContaining({ archive: "one", problem: "map-too-old" });
    expect(health).toMatchObject({
      status: "degraded",
      problems: expect.arrayContaining([problem]),
    });
    expect((await fetch(`${url}/metrics`)).status).toBe(404);

    // Logrotate moves the log, the archive has a new map.
    renameSync(log, `${log}.1`);
    writeMap(map, DAY_MS);
    kill("SIGHUP");
    await expect.poll(usable).toBe(1);
    expect((await ask()).status).toBe(404);
    await expect.poll(() => lines(log)).toHaveLength(1);
    expect(lines(`${log}.1`)).toHaveLength(1);
    const restarts = readExposition(await (await fetch(`${metrics}/metrics`)).text());
    expect(restarts.get("mementomap_archive_list_refused")?.samples[0]?.value).toBe(0);
  },
  60_000,
);
