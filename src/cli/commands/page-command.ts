import { formatAmount } from "../../format.ts";
import { stat } from "node:fs/promises";
import { ioError } from "../../errors.ts";
import { withOutputFolder } from "../../files/output-file.ts";
import { withMapSources } from "../../lookup/map-sources.ts";
import { checkNames, nameOfFile } from "../../publish/serve/map-names.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";

export const command: Command = defineCommand({
  name: "page",
  usage: "[[ID=]MAP...] -o DIR",
  description: `
Writes a web application as static files, for any web server, GitHub Pages, or
an archive's own site. It looks up URIs in maps, explores their content, and
compares them, entirely in the user's browser. The given maps are copied into
the folder; users can also open their own files, which are not uploaded. Maps
may be text, gzip, zstd or packed. Clients discover the first map.

  index.html   the page
  page/        its scripts and styles
  maps/        the maps, and maps.json with a list of them
  .well-known/mementomap   the first map, and a compressed copy

URLs are relative, so the folder can be at any path of a site. Browsers do not
run it from disk (file:): try it with any static file server, such as python3 -m
http.server.

The folder must be new or empty, and appears when it is complete. The browser
downloads a map when it is first used, so keep maps below about 100 MB: compact
makes a map smaller.
`,
  options: {
    output: { short: "o", value: "DIR", help: "The folder to create." },
    name: { value: "TEXT", help: "The title of the page. Default: the name of the first map." },
  },
  examples: {
    "a page with two maps": "mementomap page own=a.ukvs other=b.ukvs -o site",
    "a page without maps, for users' own files":
      "mementomap page -o site --name 'Explore a MementoMap'",
  },

  async run({ positionals, values }, io) {
    const { output } = values;
    if (output === undefined || output === "-") {
      throw usage("page", "name the folder for the page: -o DIR");
    }
    const named = positionals.map((text) => namedMap(text));
    checkNames(named);
    const paths = named.map(({ path }) => path);
    if (paths.includes("-")) throw usage("page", "maps are copied unchanged; name files");
    const { writeStaticPage } = await import("../../publish/serve/static-page.ts");
    const { signal } = io.interrupt;
    const infos = await withMapSources(paths, { io }, async (sources) => {
      const maps = await Promise.all(
        named.map(async ({ id, path }, index) => {
          const { size, mtime } = await stat(path).catch((error: unknown) => {
            throw ioError(error, path);
          });
          return { id, path, source: sources[index], bytes: size, modified: mtime };
        }),
      );
      const { name } = values;
      return withOutputFolder(output, io, (folder) =>
        writeStaticPage(folder, maps, { name, signal }),
      );
    });
    const records = infos.reduce((sum, map) => sum + map.records, 0);
    return {
      summary: {
        json: { maps: infos.length, records },
        text: `${formatAmount(infos.length, "map")} of ${formatAmount(records, "record")} in ${output}`,
      },
    };
  },
});

/** `id=path`, or a path alone; a path that contains a `=` can be written `./a=b`. */
function namedMap(text: string): { readonly id: string; readonly path: string } {
  const [, id, path] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
  return id === undefined || path === undefined
    ? { id: nameOfFile(text), path: text }
    : { id, path };
}
