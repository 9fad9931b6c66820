import { MemorySource, sourceChunks } from "../../src/bytes/byte-source.ts";
import { pageSource, planPages } from "../../src/maps/split-map.ts";
import { collected } from "./chunked.ts";

/** A map in at most nine linked pages, as files below a path: `page-1.ukvs` and so on. */
export async function pagedFiles(
  map: string,
  pages: number,
  path: string = "/",
): Promise<[string, Uint8Array][]> {
  const source = new MemorySource(new TextEncoder().encode(map));
  const plan = await planPages(source, { pages });
  return Promise.all(
    plan.pages.map(async (page): Promise<[string, Uint8Array]> => {
      const links = page.number < page.of ? { next: `page-${page.number + 1}.ukvs` } : {};
      const more = { version: "1", links };
      const bytes = await collected(sourceChunks(pageSource(source, plan, page, more)));
      return [`${path}page-${page.number}.ukvs`, bytes];
    }),
  );
}
