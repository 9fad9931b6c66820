import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregating, plainArchive } from "../../support/aggregating.ts";
import { scratchDir } from "../../support/scratch.ts";

async function text(url: string, accept = "*/*"): Promise<string> {
  return (await fetch(url, { headers: { accept } })).text();
}

describe("a service whose archive has more than its map says", () => {
  it("says that the map is stale, and asks by what was learnt until the map changes", async () => {
    const map = join(scratchDir(), "map.ukvs");
    writeFileSync(map, "org,held)/* 4/2\n");
    const local = await plainArchive("one", ["20050101000000"]);
    const archive = { ...local.archive, mementomap: map };
    const { url, open } = await aggregating([{ ...local, archive }], {
      aggregator: { learn: { recall: 0.9, memoryBytes: 2 ** 20 }, sampleShare: 1 },
    });
    for (let i = 0; i < 5; i++) await text(`${url}/timemap/link/http://new.org/${i}?who=me`);
    // Samples are asked when the client has its answer.
    await expect.poll(() => open.learner?.maps.staleOf("one")).toBeDefined();

    const about = JSON.parse(await text(`${url}/about.json`)) as {
      archives: { map: { status: string; contradicted: Record<string, string> } }[];
    };
    const { status, contradicted } = about.archives[0].map;
    expect(status).toBe("stale");
    expect(contradicted["kind"]).toBe("missing");
    expect(contradicted["since"]).toMatch(/^\d{4}-.*Z$/);
    expect(contradicted["detail"]).toMatch(/request a new one from the archive/);
    const page = await text(`${url}/about`, "text/html");
    expect(page).toMatch(/answers show that its map misses .* such as org,new\)\/\d/);
    expect(page).not.toContain("who=me");
    expect(await text(`${url}/about`)).toContain("its map misses all or nearly all of what");
    expect(await text(`${url}/health`)).toContain('"problem": "map-contradicted"');
    const metrics = await text(`${url}/metrics`);
    expect(metrics).toContain('mementomap_archive_map_contradicted{archive="one"} 1');
    expect(metrics).toContain('mementomap_archive_map_usable{archive="one"} 0');

    const answer = await fetch(`${url}/timemap/link/http://new.org/again`, {
      headers: { Prefer: "route-reasons" },
    });
    expect(answer.headers.get("x-mementomap-route")).toMatch(/^one=likely;hit;1/);
    writeFileSync(map, "org,held)/* 4/2\norg,new)/* 9/9\n");
    await open.keeper.refresh();
    expect(await text(`${url}/about.json`)).toContain('"status": "ready"');
    expect(await text(`${url}/metrics`)).toContain(
      'mementomap_archive_map_contradicted{archive="one"} 0',
    );
  });
});
