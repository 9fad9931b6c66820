import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/*
 * TimeMaps in the manners of archives that aggregators meet: commas in URIs, several relations, odd
 * spacing, attributes in another order, unquoted values, links that are of no use.
 */

/** Where an archive's TimeGates and TimeMaps are, and how to end it. */
export interface RecordedArchive {
  readonly timemap: string;
  readonly timegate: string;
  readonly stop: () => void;
}

interface Recording {
  /** How the TimeGate answers; 302 with one `Link` header unless it says otherwise. */
  readonly manner?: { readonly status?: number; readonly links?: "apart" | "none" };
  /** The body of the TimeMap, with `{BASE}` for the archive's address. */
  readonly timemap: string;
  /** The mementos the TimeGate chooses from: URIs and times, in the order of time. */
  readonly gate: readonly (readonly [string, string])[];
}

const WAYBACK: Record<string, Recording> = {
  "http://example.org/": {
    timemap: `<http://example.org:80/>; rel="original",
<{BASE}/timemap/link/http://example.org/>; rel="self"; type="application/link-format"; from="Thu, 20 Jun 2002 14:25:09 GMT",
<{BASE}/web/http://example.org/>; rel="timegate",
<{BASE}/web/20020620142509/http://example.org:80/>; rel="first memento"; datetime="Thu, 20 Jun 2002 14:25:09 GMT",
<{BASE}/web/20080409203051/http://example.org/>; rel="memento"; datetime="Wed, 09 Apr 2008 20:30:51 GMT",
<{BASE}/web/20150102030405/http://example.org/>; rel="memento"; datetime="Fri, 02 Jan 2015 03:04:05 GMT",
<{BASE}/web/20160101000000/http://example.org/>; rel="memento"; datetime="Fri, 01 Jan 2016 00:00:00 GMT",
<{BASE}/web/20180704000000/http://example.org/>; rel="last memento"; datetime="Wed, 04 Jul 2018 00:00:00 GMT"
`,
    gate: [
      ["{BASE}/web/20020620142509/http://example.org:80/", "Thu, 20 Jun 2002 14:25:09 GMT"],
      ["{BASE}/web/20080409203051/http://example.org/", "Wed, 09 Apr 2008 20:30:51 GMT"],
      ["{BASE}/web/20150102030405/http://example.org/", "Fri, 02 Jan 2015 03:04:05 GMT"],
      ["{BASE}/web/20160101000000/http://example.org/", "Fri, 01 Jan 2016 00:00:00 GMT"],
      ["{BASE}/web/20180704000000/http://example.org/", "Wed, 04 Jul 2018 00:00:00 GMT"],
    ],
  },
  "http://example.org/only": {
    timemap: `<http://example.org/only>; rel="original", <{BASE}/web/20110101000000/http://example.org/only>; rel="first last memento"; datetime="Sat, 01 Jan 2011 00:00:00 GMT"`,
    gate: [["{BASE}/web/20110101000000/http://example.org/only", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/even": {
    timemap: `<{BASE}/web/20100101000000/http://example.org/even>; rel="memento"; datetime="Fri, 01 Jan 2010 00:00:00 GMT",
<{BASE}/web/20100103000000/http://example.org/even>; rel="memento"; datetime="Sun, 03 Jan 2010 00:00:00 GMT"
`,
    gate: [
      ["{BASE}/web/20100101000000/http://example.org/even", "Fri, 01 Jan 2010 00:00:00 GMT"],
      ["{BASE}/web/20100103000000/http://example.org/even", "Sun, 03 Jan 2010 00:00:00 GMT"],
    ],
  },
};

const ODD: Record<string, Recording> = {
  "http://example.org/": {
    timemap:
      `<http://example.org/>;rel=original,` +
      `<{BASE}/m/1,2,3>;datetime="Mon, 05 Dec 2005 05:05:05 GMT";rel="memento",` +
      `\t< {BASE}/m/title >  ;  title="a, b"  ;  rel="memento"  ;  datetime="Tue, 05 Dec 2006 05:05:05 GMT"  ,\r\n` +
      `<{BASE}/m/no-date>; rel="memento",` +
      `<{BASE}/m/bad-date>; rel="memento"; datetime="yesterday",` +
      `<{BASE}/m/licence>; rel="license"; datetime="Tue, 05 Dec 2006 05:05:05 GMT",` +
      `<{BASE}/m/last>; rel="last memento prev"; datetime="Fri, 05 Dec 2008 05:05:05 GMT"; embargo="no",\n`,
    gate: [
      ["{BASE}/m/1,2,3", "Mon, 05 Dec 2005 05:05:05 GMT"],
      ["{BASE}/m/last", "Fri, 05 Dec 2008 05:05:05 GMT"],
    ],
  },
};

/** What MemGator stumbles over, or does in another way than we do. */
const DIFFICULT: Record<string, Recording> = {
  "http://example.org/semicolon": {
    timemap: memento("{BASE}/m/a;b", "Sat, 01 Jan 2011 00:00:00 GMT"),
    gate: [["{BASE}/m/a;b", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/backslash": {
    timemap: memento("{BASE}/m/a\\qb", "Sat, 01 Jan 2011 00:00:00 GMT"),
    gate: [["{BASE}/m/a\\qb", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/twice": {
    timemap:
      memento("{BASE}/m/twice", "Sat, 01 Jan 2011 00:00:00 GMT") +
      `,\n${memento("{BASE}/m/twice", "Sat, 01 Jan 2011 00:00:00 GMT")}`,
    gate: [["{BASE}/m/twice", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/paged": {
    timemap:
      `<{BASE}/timemap/link/http://example.org/paged/2>; rel="timemap"; type="application/link-format"` +
      `; from="Sun, 01 Jan 2012 00:00:00 GMT"; until="Sun, 01 Jan 2012 00:00:00 GMT",\n` +
      memento("{BASE}/m/page-1", "Sat, 01 Jan 2011 00:00:00 GMT"),
    gate: [["{BASE}/m/page-1", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/paged/2": {
    timemap: memento("{BASE}/m/page-2", "Sun, 01 Jan 2012 00:00:00 GMT"),
    gate: [["{BASE}/m/page-2", "Sun, 01 Jan 2012 00:00:00 GMT"]],
  },
  "http://example.org/links-apart": {
    manner: { links: "apart" },
    timemap: memento("{BASE}/m/apart", "Sat, 01 Jan 2011 00:00:00 GMT"),
    gate: [["{BASE}/m/apart", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/temporary": {
    manner: { status: 307 },
    timemap: memento("{BASE}/m/temporary", "Sat, 01 Jan 2011 00:00:00 GMT"),
    gate: [["{BASE}/m/temporary", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
  "http://example.org/bare": {
    manner: { links: "none" },
    timemap: memento("{BASE}/web/20110101000000/x", "Sat, 01 Jan 2011 00:00:00 GMT"),
    gate: [["{BASE}/web/20110101000000/x", "Sat, 01 Jan 2011 00:00:00 GMT"]],
  },
};

function memento(uri: string, datetime: string): string {
  return `<${uri}>; rel="memento"; datetime="${datetime}"`;
}

/** An archive that answers as a Wayback machine does, with raw copies behind `id_`. */
export function waybackArchive(): Promise<RecordedArchive> {
  return recordedArchive(WAYBACK);
}

/** An archive that writes link-format in its own way. */
export function oddArchive(): Promise<RecordedArchive> {
  return recordedArchive(ODD);
}

/** An archive whose answers MemGator and ours take in different ways. */
export function difficultArchive(): Promise<RecordedArchive> {
  return recordedArchive(DIFFICULT);
}

async function recordedArchive(
  recordings: Readonly<Record<string, Recording>>,
): Promise<RecordedArchive> {
  let base = "";
  const server = createServer((request, response) => {
    const target = request.url ?? "/";
    const [, kind, original] = /^\/(timemap\/link|web)\/(.*)$/.exec(target) ?? [];
    const recording = recordings[original ?? ""];
    const filled = (text: string): string => text.replaceAll("{BASE}", base);
    if (kind === "timemap/link" && recording !== undefined) {
      response.setHeader("content-type", "application/link-format");
      response.end(filled(recording.timemap));
    } else if (kind === "web" && recording !== undefined) {
      const { status = 302, links = "together" } = recording.manner ?? {};
      const { location, link } = gateAnswer(recording, String(request.headers["accept-datetime"]));
      const written = link.map(filled);
      response.setHeader("location", filled(location));
      response.setHeader("vary", "accept-datetime");
      if (links !== "none")
        response.setHeader("link", links === "apart" ? written : written.join(", "));
      response.writeHead(status).end();
    } else if (/^\/web\/\d{14}(?:id_)?\//.test(target)) {
      // A memento says which one it is, so that a test sees what was fetched.
      response.setHeader("content-type", "text/plain");
      response.end(`the memento at ${target}`);
    } else {
      response.writeHead(404, { "content-type": "text/plain" }).end("none\n");
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    timemap: `${base}/timemap/link/`,
    timegate: `${base}/web/`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function gateAnswer(
  { gate }: Recording,
  acceptDatetime: string,
): { location: string; link: string[] } {
  const wanted = Date.parse(acceptDatetime);
  const distances = gate.map(([, datetime]) => Math.abs(Date.parse(datetime) - wanted));
  const closest = distances.indexOf(Math.min(...distances));
  const links = gate.flatMap(([uri, datetime], i) => {
    const rels = [
      i === 0 ? "first" : "",
      i === gate.length - 1 ? "last" : "",
      i === closest - 1 ? "prev" : "",
      i === closest + 1 ? "next" : "",
    ].filter((rel) => rel !== "");
    if (rels.length === 0 && i !== closest) return [];
    return [`<${uri}>; rel="${[...rels, "memento"].join(" ")}"; datetime="${datetime}"`];
  });
  return {
    location: gate[closest][0],
    link: [`<http://example.org/>; rel="original"`, ...links],
  };
}
