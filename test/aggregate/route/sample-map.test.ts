import { describe, expect, it } from "vitest";
import { generateMap } from "../../../src/generate/generate-map.ts";
import { archivesOf, routerOf, shown } from "./routing.ts";

const stamp = "2016/06/09 12:00:00.123456";
const LOG = [
  `INFO: ${stamp} Aggregating Mementos for http://x.example/held`,
  `INFO: ${stamp} a => Success: 2 mementos`,
  `INFO: ${stamp} Aggregating Mementos for http://x.example/void`,
  `INFO: ${stamp} a => Response error: 404 Not Found`,
].join("\n");

async function learned(): Promise<string> {
  const chunks = (async function* () {
    yield new TextEncoder().encode(LOG);
  })();
  const { bytes } = await generateMap([{ name: "memgator.log", chunks }]);
  return new TextDecoder().decode(bytes);
}

describe("a map that was learnt from a log", () => {
  it("is marked as a sample", async () => {
    expect(await learned()).toContain('!meta {"type":"MementoMap","sample":true}\n');
  });

  it.each([
    ["held", "+a in-map"],
    ["void", "-a not-in-map"],
    ["never-asked-for", "+a no-map"],
  ])("is gone by as far as it knows: %s", async (path, decision) => {
    const router = await routerOf(archivesOf({ a: {} }), { a: await learned() });
    expect(shown(router.route({ uri: `http://x.example/${path}` }))).toBe(decision);
  });
});
