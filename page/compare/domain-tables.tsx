import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  ComparedDomain,
  MapComparison,
  OnlyDomain,
} from "../../src/map/compare/comparison.ts";
import { readable } from "../explore/part-label.ts";
import { COMPARE } from "../messages/compare.ts";
import { formatNumber, useText } from "../text.ts";
import { shortName } from "./overlap-chart.tsx";

interface TableProps {
  readonly comparison: MapComparison;
  readonly nameOf: (id: string) => string;
  /** Where a domain of a map can be explored. */
  readonly hrefOf: (id: string, prefix: string) => string;
}

const MOST_TLDS = 40;

/** Captures of each map by top-level domain, as cells of a heat map. */
export function TldTable({ comparison, nameOf, hrefOf }: TableProps): JSX.Element {
  const text = useText(COMPARE);
  const all = comparison.maps.map(({ captures }) => captures);
  return (
    <section class="card">
      <h2>{text("byTld")}</h2>
      <p class="hint">{text("byTldHint")}</p>
      <DomainRows
        domains={comparison.tlds.slice(0, MOST_TLDS)}
        comparison={comparison}
        nameOf={nameOf}
        hrefOf={hrefOf}
        stepOf={(domain, index) => heatStep(domain.maps[index]?.captures ?? 0, all[index] ?? 0)}
      />
    </section>
  );
}

/** How strong a cell is: 0 for nothing, 9 for all of the map. */
function heatStep(captures: number, all: number): number {
  if (captures === 0 || all === 0) return 0;
  return Math.max(1, Math.min(9, Math.ceil(9 * Math.sqrt(captures / all))));
}

function DomainRows(
  props: TableProps & {
    readonly domains: readonly ComparedDomain[];
    readonly stepOf?: (domain: ComparedDomain, index: number) => number;
  },
): JSX.Element {
  const text = useText(COMPARE);
  const { domains, comparison, nameOf, hrefOf, stepOf } = props;
  const number = (value: number): string => formatNumber(value, text.language);
  if (domains.length === 0) return <p class="hint">{text("nothing")}</p>;
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={text("byTld")}>
      <table class="domains">
        <thead>
          <tr>
            <th scope="col">{text("tld")}</th>
            {comparison.maps.map(({ id }) => (
              <th key={id} scope="col" class="number set-name">
                <bdi>{shortName(nameOf(id))}</bdi>
              </th>
            ))}
            <th scope="col" class="number">
              {text("pages")}
            </th>
            <th scope="col" class="number">
              {text("shared")}
            </th>
          </tr>
        </thead>
        <tbody>
          {domains.map((domain) => (
            <tr key={domain.prefix}>
              <th scope="row">
                <bdi dir="ltr" class="part-name" title={domain.prefix}>
                  {readable(domain.url.replace(/^\*\./, "")).slice(0, 120)}
                </bdi>
              </th>
              {domain.maps.map(({ captures, rows }, index) => {
                const step = stepOf?.(domain, index);
                return (
                  <td
                    key={comparison.maps[index]?.id}
                    class={`number ${step === undefined ? "" : `heat heat${step}`}`}
                  >
                    {rows === 0 ? (
                      "–"
                    ) : (
                      <a href={hrefOf(comparison.maps[index]?.id ?? "", domain.prefix)}>
                        {number(captures)}
                      </a>
                    )}
                  </td>
                );
              })}
              <td class="number">{number(domain.keys)}</td>
              <td class="number">{number(domain.shared)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Registered domains: those that differ most, the largest, and those that only one map holds. */
export function DomainLists(props: TableProps): JSX.Element {
  const text = useText(COMPARE);
  const { comparison, nameOf, hrefOf } = props;
  const [list, setList] = useState("differing");
  const tabs = [
    ["differing", text("listDiffering")],
    ["largest", text("listLargest")],
    ...comparison.only.map(({ map }) => [
      `only ${map}`,
      text("listOnly", { map: shortName(nameOf(map)) }),
    ]),
  ] as const;
  const only = comparison.only.find(({ map }) => list === `only ${map}`);
  return (
    <section class="card">
      <h2>{text("lists")}</h2>
      <div class="switch" role="group" aria-label={text("lists")}>
        {tabs.map(([id, label]) => (
          <button
            key={id}
            type="button"
            class="quiet"
            aria-pressed={list === id}
            onClick={() => setList(id ?? "differing")}
          >
            <bdi>{label}</bdi>
          </button>
        ))}
      </div>
      {only === undefined ? (
        <DomainRows
          {...props}
          domains={list === "largest" ? comparison.largest : comparison.differing}
        />
      ) : (
        <OnlyRows
          domains={only.domains}
          nameOf={nameOf}
          hrefOf={(prefix) => hrefOf(only.map, prefix)}
        />
      )}
    </section>
  );
}

function OnlyRows(props: {
  readonly domains: readonly OnlyDomain[];
  readonly nameOf: (id: string) => string;
  readonly hrefOf: (prefix: string) => string;
}): JSX.Element {
  const text = useText(COMPARE);
  const { domains, nameOf, hrefOf } = props;
  if (domains.length === 0) return <p class="hint">{text("nothing")}</p>;
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={text("only")}>
      <table class="domains">
        <thead>
          <tr>
            <th scope="col">{text("tld")}</th>
            <th scope="col" class="number">
              {text("captures")}
            </th>
            <th scope="col" class="number">
              {text("rows")}
            </th>
          </tr>
        </thead>
        <tbody>
          {domains.map(({ prefix, url, captures, rows, may }) => (
            <tr key={prefix}>
              <th scope="row">
                <a href={hrefOf(prefix)}>
                  <bdi dir="ltr" class="part-name" title={prefix}>
                    {readable(url.replace(/^\*\./, "")).slice(0, 120)}
                  </bdi>
                </a>
                {may.length > 0 && (
                  <span class="part-kind">
                    {text("perhaps", { maps: may.map((id) => shortName(nameOf(id))).join(", ") })}
                  </span>
                )}
              </th>
              <td class="number">{formatNumber(captures, text.language)}</td>
              <td class="number">{formatNumber(rows, text.language)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
