import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Local archives for the page: some hold much, one holds little, one fails, one is slow. */
export interface DemoArchives {
  /** An archive list for `aggregate --archives`. */
  readonly list: string;
  /** Delays the responses of an archive until the promise is settled. */
  close(): void;
}

interface DemoArchive {
  readonly id: string;
  readonly name: string;
  /** The number of its mementos, and their years. */
  readonly mementos: number;
  readonly years: readonly [from: number, until: number];
  readonly map?: readonly string[];
  readonly answer?: (response: ServerResponse) => void;
  readonly waitMs?: number;
}

const HEAD =
  '!context ["https://git.io/mementomap"]\n!fields {"keys":["surt"],"values":["frequency"]}\n';

/** Their holdings; they hold nothing of other hosts, as their maps say. */
const DEMO_HOST = "news.example.org";
export const DEMO_URL: string = `https://${DEMO_HOST}/2016/election`;

function archivesOf(large: number): readonly DemoArchive[] {
  return [
    {
      id: "long",
      name: "The Long Archive",
      mementos: large,
      years: [1998, 2026],
      map: ["org,example,news)/2016/election 1240", "org,example,news)/* 56000+/8200"],
    },
    {
      id: "national",
      name: "National Web Archive",
      mementos: 260,
      years: [2009, 2022],
      map: ["org,example,news)/2016/* 264/31", "org,* 40000000~"],
    },
    {
      id: "library",
      name: "University Library Collections",
      mementos: 38,
      years: [2015, 2018],
      map: ["org,example,* 900"],
      waitMs: 400,
    },
    {
      id: "city",
      name: "City Archive",
      mementos: 0,
      years: [2010, 2012],
      map: ["de,berlin)/* 100"],
    },
    { id: "small", name: "Pages of Today", mementos: 12, years: [2020, 2026], waitMs: 800 },
    {
      id: "ill",
      name: "Archive Out of Order",
      mementos: 0,
      years: [2000, 2001],
      answer: (response) => void response.writeHead(503).end(),
    },
  ];
}

/** Starts the archives. `large` is the number of mementos of the largest. */
export async function demoArchives(large: number = 1240): Promise<DemoArchives> {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-demo-"));
  const servers: Server[] = [];
  const list = [];
  for (const archive of archivesOf(large)) {
    const server = createServer((request, response) => answer(archive, request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const map = join(folder, `${archive.id}.ukvs`);
    const updated = new Date().toISOString();
    const meta = `!meta {"type":"MementoMap","updated_at":"${updated}"}\n`;
    const rows = [...(archive.map ?? [])].sort((a, b) => (a < b ? -1 : 1));
    writeFileSync(map, `${HEAD}${meta}${rows.join("\n")}\n`);
    list.push({
      id: archive.id,
      name: archive.name,
      timemap: `${url}/timemap/link/`,
      timegate: `${url}/timegate/`,
      ...(archive.map === undefined ? {} : { mementomap: map }),
    });
  }
  const path = join(folder, "archives.json");
  writeFileSync(path, JSON.stringify(list));
  return {
    list: path,
    close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(folder, { recursive: true });
    },
  };
}

function answer(archive: DemoArchive, request: IncomingMessage, response: ServerResponse): void {
  const { url = "", headers } = request;
  if (archive.answer !== undefined) {
    archive.answer(response);
    return;
  }
  const [, original] = /^\/timemap\/link\/(.*)$/.exec(url) ?? [];
  setTimeout(() => {
    if (original === undefined) {
      response.writeHead(200, { "Content-Type": "text/html" });
      response.end(`<title>${archive.name}</title><h1>${archive.name}</h1><p>${url.slice(5, 19)}`);
    } else if (archive.mementos === 0 || !original.includes(DEMO_HOST)) {
      response.writeHead(404).end();
    } else {
      response.writeHead(200, { "Content-Type": "application/link-format" });
      response.end(timeMap(archive, original, `http://${headers.host ?? ""}/web/`));
    }
  }, archive.waitMs ?? 0);
}

/** Denser in later years and around one year, as captures of a page are. */
function timeMap(
  { mementos, years: [from, until] }: DemoArchive,
  original: string,
  base: string,
): string {
  const start = Date.UTC(from, 0, 1);
  const length = Date.UTC(until, 9, 1) - start;
  const lines = [`<${original}>; rel="original"`];
  for (let i = 0; i < mementos; i += 1) {
    const share = (i + 0.5) / mementos;
    const wave = share * (1 - share) * (0.2 * Math.sin(share * 21) + 0.08 * Math.sin(share * 67));
    const at = new Date(start + length * Math.min(1, Math.max(0, Math.sqrt(share) + wave)));
    const digits = at.toISOString().replaceAll(/\D/g, "").slice(0, 14);
    lines.push(`<${base}${digits}/${original}>; rel="memento"; datetime="${at.toUTCString()}"`);
  }
  return `${lines.join(",\n")}\n`;
}
