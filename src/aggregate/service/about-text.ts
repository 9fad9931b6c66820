import type { MapState } from "../route/map-keeper.ts";
import type { StatusView } from "./service-status.ts";

function listFault({ list }: StatusView): string {
  return list?.error === undefined ? "" : `\nThe list of archives is refused: ${list.error}\n`;
}

function mapFault({ status, error }: MapState): string {
  if (error === undefined) return "";
  return status === "failed" ? `, ${error}` : `, the new map is refused: ${error}`;
}

/** What `/about` says to programs that want no page: MemGator's text, with what we know besides. */
export function aboutText(
  status: StatusView,
  service: { readonly version: string; readonly base: string },
): string {
  const { base, version } = service;
  const archives = status.archives().map(({ archive, upstream, map }, index) => {
    const notes = [
      upstream.health === "awake" ? "" : upstream.health.toUpperCase(),
      upstream.health === "awake" && upstream.consecutiveFailures > 0
        ? `Consecutive failures: ${upstream.consecutiveFailures}`
        : "",
      map === undefined ? "" : `Map: ${map.status}${mapFault(map)}`,
    ].filter(Boolean);
    const suffix = notes.length === 0 ? "" : ` - (${notes.join(", ")})`;
    return `${index + 1}. [${archive.name}](${archive.timemap})${suffix}`;
  });
  const settings = Object.entries(status.settings).map(
    ([name, value]) => `${`${name}:`.padEnd(24)}${value}`,
  );
  return `# mementomap (${version})

A Memento aggregator that asks the archives which can answer

## API Endpoints

TimeMap:  ${base}/timemap/{FORMAT}/{URI-R}
TimeGate: ${base}/timegate/{URI-R} [Accept-Datetime]
Memento:  ${base}/memento[/{FORMAT}|proxy]/{DATETIME}/{URI-R}
Summary:  ${base}/summary/{URI-R}
Route:    ${base}/route/{URI-R}
About:    ${base}/about
Metrics:  ${base}/metrics
OpenAPI:  ${base}/openapi.json

  {FORMAT}          => link|json|cdxj
  {DATETIME}        => YYYY[MM[DD[hh[mm[ss]]]]]
  [Accept-Datetime] => Header in RFC1123 format

## Upstream Archives

${archives.join("\n")}
${listFault(status)}
## Configs

${settings.join("\n")}
`;
}
