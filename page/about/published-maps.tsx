import type { JSX } from "preact";
import type { MapInfo } from "../../src/page/page-data.ts";
import { publishedName } from "../maps/map-list.ts";
import { ABOUT } from "../messages.ts";
import { PAGE } from "../page-data.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { PlainText, webUri } from "../parts/uri.tsx";
import { hrefOf } from "../router.ts";
import { formatBytes, formatDay, formatNumber, useText } from "../text.ts";

/** The maps that a publisher has: what they say, and where to get them. */
export function PublishedMaps(): JSX.Element {
  const text = useText(ABOUT);
  const base = `${PAGE.origin}${PAGE.base}`;
  const [first] = PAGE.maps;
  return (
    <>
      <h1>
        <PlainText value={PAGE.name} />
      </h1>
      <p class="lede">
        {text("publisherTitle")}. {text("publisherLede")}
      </p>
      {PAGE.maps.map((map) => (
        <PublishedMap key={map.id} map={map} />
      ))}
      <section class="card">
        <h2>{text("programs")}</h2>
        <pre class="commands">
          {[
            `curl '${base}/lookup?url=https://example.org/'`,
            `curl --data-binary @uris.txt ${base}/lookup`,
            `curl --compressed -o map.ukvs ${new URL(first?.href ?? "", PAGE.origin).href}`,
          ].map((command) => (
            <code key={command}>{command}</code>
          ))}
        </pre>
        <p class="hint">
          {text("publisherPrograms")} <a href={`${PAGE.base}/openapi.json`}>{text("openapi")}</a>.
        </p>
      </section>
    </>
  );
}

function PublishedMap({ map }: { readonly map: MapInfo }): JSX.Element {
  const text = useText(ABOUT);
  const number = (value: number): string => formatNumber(value, text.language);
  const [mementos = "", originals = ""] = (map.total ?? "").split("/");
  const facts = [
    ["keys", number(map.records)],
    ["mementos", mementos],
    ["originals", originals],
    ["tlds", map.isPacked ? "" : number(map.domainCount)],
    ["size", formatBytes(map.bytes, text.language)],
    ["updated", dayOf(map.updatedAt, text.language)],
  ] as const;
  return (
    <section class="card published">
      <div class="card-head">
        <h2>
          <PlainText value={publishedName(map)} />
          {map.isPacked && <span class="badge calm">{text("packed")}</span>}
        </h2>
        <p class="map-links">
          <a href={hrefOf(PAGE, "explore", { map: map.id })}>{text("explore")}</a>
          <a href={map.href} download={`mementomap.${map.isPacked ? "packed" : "ukvs"}`}>
            {text("download")}
          </a>
        </p>
      </div>
      {map.archive !== null && (
        <p class="hint">
          {text("of")}{" "}
          <a href={webUri(map.archive)} rel="noreferrer">
            <PlainText value={map.archive} />
          </a>
        </p>
      )}
      <Facts
        facts={facts.flatMap(([name, value]): Fact[] => {
          if (value === "") return [];
          return [[text(name), /^\d+$/.test(value) ? number(Number(value)) : value]];
        })}
      />
      {map.topDomains.length > 1 && <TopDomains map={map} />}
    </section>
  );
}

function TopDomains({ map }: { readonly map: MapInfo }): JSX.Element {
  const text = useText(ABOUT);
  const most = map.topDomains[0]?.keys ?? 1;
  return (
    <details>
      <summary>{text("where")}</summary>
      <table>
        <tbody>
          {map.topDomains.map(({ domain, keys }) => (
            <tr key={domain}>
              <th scope="row">
                <PlainText value={domain} />
              </th>
              <td class="share">
                <svg class="bar" aria-hidden="true">
                  <rect width={`${((100 * keys) / most).toFixed(2)}%`} height="100%" rx="3" />
                </svg>
              </td>
              <td class="number">{formatNumber(keys, text.language)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {map.topDomains.length < map.domainCount && (
        <p class="hint">
          {text("whereLargest", { shown: map.topDomains.length, all: map.domainCount })}
        </p>
      )}
    </details>
  );
}

function dayOf(moment: string, language: Parameters<typeof formatDay>[1]): string {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? moment : formatDay(date, language);
}
