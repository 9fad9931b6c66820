import { formatAmount } from "../../format.ts";
import { join } from "node:path";
import { sourceChunks } from "../../bytes/byte-source.ts";
import { pageSource, planPages, type SplitPlan, type SplitSize } from "../../maps/split-map.ts";
import { withCanonicalMap } from "../../maps/canonical-map.ts";
import type { FileSource } from "../../files/input-file.ts";
import { withOutput, withOutputFolder } from "../../files/output-file.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { withMapSources } from "../../lookup/map-sources.ts";
import { option } from "../common/options.ts";

export const command: Command = defineCommand({
  name: "split",
  usage: "MAP (--pages N | --max-lines N) -o DIR",
  description: `
Splits a map into pages in key order: page-0001.ukvs, page-0002.ukvs and so on.
Each page is a map with all headers, whose !meta header gives the number of the
page and its first and last key. All rows of a key are on one page. Merging the
pages restores the map. Pages are in canonical form, like the output of merge:
LF, one space, %2a for a * that is not a wildcard.

The folder must be new or empty, and appears when all pages are written.
`,
  options: {
    pages: option.count("The number of pages."),
    "max-lines": option.count("The maximum number of records per page."),
    output: { short: "o", value: "DIR", help: "The folder to create." },
    gzip: { help: "Compress the pages: page-0001.ukvs.gz." },
  },
  examples: {
    "two pages": "mementomap split map.ukvs --pages 2 -o pages",
    "pages of 50,000 records, compressed":
      "mementomap split map.ukvs --max-lines 50000 --gzip -o pages",
  },

  async run({ positionals, values }, io) {
    const [path = "-", ...more] = positionals;
    if (more.length > 0) throw usage("split", "split takes one map");
    const { output } = values;
    if (output === undefined || output === "-") {
      throw usage("split", "name the folder for the pages: -o DIR");
    }
    const size = splitSize(values.pages, values["max-lines"]);
    const { signal } = io.interrupt;
    const suffix = values.gzip ? ".ukvs.gz" : ".ukvs";
    const writePages = async (map: FileSource): Promise<SplitPlan> => {
      const pages = await planPages(map, size, { signal });
      const digits = Math.max(4, String(pages.pages.length).length);
      await withOutputFolder(output, io, async (folder) => {
        for (const page of pages.pages) {
          const name = `page-${String(page.number).padStart(digits, "0")}${suffix}`;
          await withOutput(join(folder, name), { stdout: io.stdout }, async (file) => {
            const source = pageSource(map, pages, page);
            for await (const chunk of sourceChunks(source, { signal })) await file.write(chunk);
          });
        }
      });
      return pages;
    };
    const plan = await withMapSources([path], { io }, ([source]) =>
      withCanonicalMap(source, io.interrupt, writePages),
    );
    const records = plan.pages.reduce((sum, page) => sum + page.records, 0);
    const pages = plan.pages.length;
    return {
      summary: {
        json: { pages, records },
        text: `${formatAmount(records, "record")} on ${formatAmount(pages, "page")}`,
      },
    };
  },
});

function splitSize(pages: number | undefined, maxLines: number | undefined): SplitSize {
  if (pages !== undefined && maxLines === undefined) return { pages };
  if (maxLines !== undefined && pages === undefined) return { maxLines };
  throw usage("split", "specify either --pages N or --max-lines N");
}
