import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AggregateProcess,
  aggregateProcess,
  writeList,
} from "../support/aggregate-process.ts";
import { type LocalArchive, plainArchive } from "../support/aggregating.ts";
import { scratchDir } from "../support/scratch.ts";

const URI = "http://example.org/a";

async function threeArchives(): Promise<LocalArchive[]> {
  return [
    await plainArchive("one", ["20050101000000"]),
    await plainArchive("two", ["20080101000000"]),
    await plainArchive("three", ["20100101000000"]),
  ];
}

/** The ids of the archives that the service goes by. */
async function listed({ url }: AggregateProcess): Promise<string> {
  const list = (await (await fetch(`${url}/archives.json`)).json()) as { id: string }[];
  return list.map(({ id }) => id).join(" ");
}

async function metric({ url }: AggregateProcess, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
}

describe.skipIf(process.platform === "win32")("aggregate --serve, while it runs", () => {
  it("goes by another list on SIGHUP; a bad one changes nothing, and is reported", async () => {
    const [one, two, three] = await threeArchives();
    const list = writeList([one, two]);
    const service = await aggregateProcess(["-a", list]);
    expect(await listed(service)).toBe("one two");
    await fetch(`${service.url}/timemap/link/${URI}`);

    writeList([two, three], list);
    service.kill("SIGHUP");
    await expect.poll(() => listed(service)).toBe("two three");
    expect(service.said()).toContain(
      '"msg":"archive list reloaded","archives":2,"added":"three","removed":"one","changed":""',
    );
    const answer = await fetch(`${service.url}/timemap/link/${URI}`);
    expect(answer.headers.get("x-memento-count")).toBe("2");
    expect(two.requests).toHaveLength(1); // the other time it came from the cache
    expect(service.said()).not.toContain("changed settings");
    expect(await metric(service, "mementomap_archive_list_archives")).toBe(2);
    expect(await metric(service, "mementomap_archive_list_refused")).toBe(0);

    for (const [text, reason] of [
      ['[{"id": "one"', /not a list of archives/],
      ["[]", /the list has no archives/],
      ['[{"id": "x"}]', /it has no .*timemap/],
    ] as const) {
      writeFileSync(list, text);
      service.kill("SIGHUP");
      await expect.poll(() => service.said()).toMatch(reason);
      await expect.poll(() => metric(service, "mementomap_archive_list_refused")).toBe(1);
      const about = { page: "text/html", json: "application/json", text: "text/plain" };
      for (const accept of Object.values(about)) {
        const shown = await fetch(`${service.url}/about`, { headers: { accept } });
        expect(await shown.text()).toMatch(reason);
      }
      expect(await listed(service)).toBe("two three");
    }

    writeList([one], list);
    service.kill("SIGHUP");
    await expect.poll(() => listed(service)).toBe("one");
    expect(await metric(service, "mementomap_archive_list_refused")).toBe(0);
    service.kill("SIGTERM");
    expect(await service.done).toMatchObject({ code: 0 });
  });

  it("takes up some settings, and says which others want a restart", async () => {
    const [one, two, three] = await threeArchives();
    const config = join(scratchDir(), "aggregator.json");
    const archives = writeList([one, two]);
    const configure = (settings: object): void => writeFileSync(config, JSON.stringify(settings));
    configure({ archives });
    const service = await aggregateProcess(["--config", config]);
    const asked = async (page: number): Promise<string | null> => {
      const headers = { "X-MementoMap-Route": "1" };
      const answer = await fetch(`${service.url}/timemap/link/${URI}/${page}`, { headers });
      return answer.headers.get("x-memento-count");
    };
    expect(await asked(1)).toBe("2");

    configure({ archives, only: "!two", cache: "1m" });
    service.kill("SIGHUP");
    await expect.poll(() => asked(1)).toBe("1");
    expect(service.said()).toContain(
      '"msg":"changed settings require a restart","settings":"cache"',
    );

    // An archive that the list does not have, and a file that is not JSON: refused as a whole.
    configure({ archives, only: "!nobody" });
    service.kill("SIGHUP");
    await expect.poll(() => service.said()).toMatch(/there is no archive .*nobody/);
    writeFileSync(config, "{");
    service.kill("SIGHUP");
    await expect.poll(() => service.said()).toContain("not JSON");
    expect(await asked(1)).toBe("1");

    configure({ archives: writeList([three, two]) });
    service.kill("SIGHUP");
    await expect.poll(() => listed(service)).toBe("three two");
    expect(await asked(1)).toBe("2");
    service.kill("SIGTERM");
    expect(await service.done).toMatchObject({ code: 0 });
  });
});
