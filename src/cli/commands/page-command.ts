import { stat } from "node:fs/promises";
import { formatAmount, ioError } from "../../errors.ts";
import { withOutputFolder } from "../../files/output-file.ts";
import { withMapSources } from "../../map/lookup/map-sources.ts";
import { checkNames, nameOfFile } from "../../publish/serve/map-names.ts";
import { usage } from "../common/command-line.ts";
import { type Command, defineCommand } from "../common/command.ts";
import { ExitCode } from "../common/io.ts";

export const page: Command = defineCommand({
  name: "page",
  summary: "Write a web page that looks up, explores and compares maps",
  usage: "[[ID=]MAP...] -o DIR",
  description: `
Writes a folder of files for any web server, GitHub Pages, or an archive's own
site: a page that looks URIs up in maps, explores what maps hold, and compares
them. All of it happens in the reader's browser. Maps that are given are copied
beside the page; readers can open files of their own, too, which are not sent
anywhere. Maps may be text, gzip, zstd or packed.

  index.html   the page
  page/        its scripts and styles
  maps/        the maps, and maps.json with a list of them

Addresses are relative, so that the folder can be at any path of a site.
Browsers do not run it from a disk (file:): try it with any server of files,
such as python3 -m http.server.

The folder appears when all is written; it must be new, or empty.
A map is fetched when it is first asked, so keep them below some 100 MB: compact
makes a map smaller.
`,
  options: {
    output: { short: "o", value: "DIR", help: "The folder to make." },
    name: { value: "TEXT", help: "What the page is called. Default: the name of the first map." },
    tmp: { value: "DIR", help: "Where scratch copies of compressed maps go. Default: TMPDIR." },
  },
  examples: {
    "a page with two maps": "mementomap page own=a.ukvs other=b.ukvs -o site",
    "a page onto which readers drop maps": "mementomap page -o site --name 'Explore a MementoMap'",
  },

  async run({ positionals, values }, io) {
    const { output, tmp } = values;
    if (output === undefined || output === "-") {
      throw usage("page", "name the folder for the page: -o DIR");
    }
    const named = positionals.map((text) => namedMap(text));
    checkNames(named);
    const paths = named.map(({ path }) => path);
    if (paths.includes("-")) throw usage("page", "maps are copied as they are; name files");
    const { writeStaticPage } = await import("../../publish/serve/static-page.ts");
    const { signal } = io.interrupt;
    const infos = await withMapSources(paths, { io, tmp }, async (sources) => {
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
    if (values.quiet) return ExitCode.ok;
    const records = infos.reduce((sum, map) => sum + map.records, 0);
    io.stderr.write(
      values.json
        ? `${JSON.stringify({ maps: infos.length, records })}\n`
        : `${formatAmount(infos.length, "map")} of ${formatAmount(records, "record")} in ${output}\n`,
    );
    return ExitCode.ok;
  },
});

/** `id=path`, or a path alone; a path that has a `=` itself can be written `./a=b`. */
function namedMap(text: string): { readonly id: string; readonly path: string } {
  const [, id, path] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
  return id === undefined || path === undefined
    ? { id: nameOfFile(text), path: text }
    : { id, path };
}
