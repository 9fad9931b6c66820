import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { digest } from "./inputs.ts";
import { startService } from "./services.ts";

type Answer = { readonly present: boolean; readonly key?: string; readonly frequency?: unknown };
interface Opened {
  lookup(uri: string, options?: { at?: Date }): Promise<Answer>;
  lookupMany(uris: readonly string[], options?: { at?: Date }): AsyncIterable<Answer>;
  close(): Promise<void>;
}
interface Library {
  openMap(source: string | Uint8Array, options?: { inMemory?: boolean }): Promise<Opened>;
}

const MAPS = [
  ["a.ukvs", "held.txt", "asked.txt", "beside.txt", "odd.txt"],
  ["c-05.ukvs", "held.txt", "beside.txt", "odd.txt"],
  ["c-015.ukvs", "held.txt", "asked.txt"],
  ["c-20k.ukvs", "held.txt", "asked.txt"],
  ["timed.ukvs", "held.txt", "asked.txt"],
  ["c-timed.ukvs", "held.txt"],
  ["queries.ukvs", "held.txt", "beside.txt"],
  ["c-queries-30k.ukvs", "held.txt", "beside.txt"],
  ["merged-wild.ukvs", "held.txt", "beside.txt"],
  ["voids.ukvs", "voids.txt", "odd.txt"],
  ["authors.ukvs", "voids.txt", "odd.txt"],
  ["odd-queries.ukvs", "odd.txt"],
  ["a.packed", "held.txt"],
  ["queries.packed", "held.txt"],
] as const;

const said = ({ present, key, frequency }: Answer): string =>
  `${present} ${key ?? ""} ${JSON.stringify(frequency) ?? ""}`;

/** Lookups in maps through each entry point of the library and the publisher: one line per map and entry point. */
export async function doors(build: string, folder: string): Promise<[string, string][]> {
  const library = (await import(join(build, "dist/node.js"))) as Library; // the entry point of the package
  const records: [string, string][] = [];
  const server = createServer((request, response) => {
    const path = join(folder, request.url ?? "");
    if (!existsSync(path)) return void response.writeHead(404).end();
    const bytes = readFileSync(path);
    const [, from, until] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
    const start = Number(from ?? 0);
    const end =
      until === undefined || until === ""
        ? bytes.length
        : Math.min(bytes.length, Number(until) + 1);
    const range =
      from === undefined ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${bytes.length}` };
    response.writeHead(from === undefined ? 200 : 206, {
      ETag: `"${digest(bytes)}"`,
      "Accept-Ranges": "bytes",
      "Content-Length": end - start,
      ...range,
    });
    response.end(request.method === "HEAD" ? undefined : bytes.subarray(start, end));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const [map, ...lists] of MAPS) {
    const uris = lists.flatMap((name) =>
      readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1),
    );
    if (!existsSync(join(folder, map))) {
      records.push([`lookup of ${map}`, "no map"]);
      continue;
    }
    const few = uris.filter((_, i) => i % 15 === 0 || uris.length < 1000);
    const path = join(folder, map);
    const at = map.includes("timed") ? { at: new Date("2012-06-01") } : {};
    const ways: readonly [string, () => Promise<Opened>, readonly string[]][] = [
      ["in memory", () => library.openMap(path, { inMemory: true }), uris],
      ["bytes", () => library.openMap(readFileSync(path)), few],
      ["a file", () => library.openMap(path), few],
      ["HTTP ranges", () => library.openMap(`${site}${map}`), few.filter((_, i) => i % 5 === 0)],
    ];
    for (const [way, open, asked] of ways) {
      const answers: string[] = [];
      try {
        const opened = await open();
        for await (const answer of opened.lookupMany(asked, at)) answers.push(said(answer));
        await opened.close();
      } catch (error) {
        answers.push(
          /MM_\w+/.exec(`${(error as { code?: string }).code} ${String(error)}`)?.[0] ?? "failed",
        );
      }
      const present = answers.filter((answer) => answer.startsWith("true")).length;
      records.push([
        `lookup of ${map} by ${way}`,
        `${present} of ${answers.length} present ${digest(answers.join("\n"))}`,
      ]);
    }
    const service = await startService(build, folder, ["serve", map, "--port", "0", "--json"]);
    const year = map.includes("timed") ? "&at=2012" : "";
    const answers: string[] = [];
    for (const uri of few.filter((_, i) => i % 5 === 0 || few.length < 200)) {
      const response = await fetch(`${service.url}lookup?url=${encodeURIComponent(uri)}${year}`);
      answers.push(
        `${response.status} ${response.status === 200 ? said((await response.json()) as Answer) : await response.text().then(() => "")}`,
      );
    }
    records.push([`lookup of ${map} served`, `${answers.length} ${digest(answers.join("\n"))}`]);
    const batch = await fetch(`${service.url}lookup${year.replace("&", "?")}`, {
      method: "POST",
      body: `${few.join("\n")}\n`,
    });
    records.push([
      `lookup of ${map} served in batches`,
      `${batch.status} ${digest(await batch.text())}`,
    ]);
    await service.close();
  }
  server.close();
  server.closeAllConnections();
  return records;
}
