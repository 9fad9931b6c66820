import type { JSX } from "preact";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import { COMPARE } from "../messages.ts";
import { Facts } from "../parts/facts.tsx";
import { formatNumber, useText } from "../text.ts";
import { shortName } from "./overlap-chart.tsx";

interface SizesProps {
  readonly comparison: MapComparison;
  readonly nameOf: (id: string) => string;
}

/** What each map adds up to. */
export function Sizes({ comparison, nameOf }: SizesProps): JSX.Element {
  const text = useText(COMPARE);
  const columns = ["captures", "rows", "domains", "tlds", "wildcards", "voids"] as const;
  return (
    <section class="card">
      <h2>{text("sizes")}</h2>
      <div class="scroller" tabIndex={0} role="region" aria-label={text("sizes")}>
        <table class="domains">
          <thead>
            <tr>
              <th scope="col">{text("map")}</th>
              {columns.map((column) => (
                <th key={column} scope="col" class="number">
                  {text(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {comparison.maps.map((map) => (
              <tr key={map.id}>
                <th scope="row">
                  <bdi>{shortName(nameOf(map.id))}</bdi>
                </th>
                {columns.map((column) => (
                  <td key={column} class="number">
                    {formatNumber(map[column], text.language)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/**
 * What was added and what is gone, if two maps are versions of one. A page that has no row of its own
 * any more, but that a wildcard covers, is not gone: it was rolled up.
 */
export function Growth(props: SizesProps & { readonly onSwap: () => void }): JSX.Element | null {
  const text = useText(COMPARE);
  const { comparison, nameOf, onSwap } = props;
  const [before, after] = comparison.maps;
  if (before === undefined || after === undefined || comparison.maps.length !== 2) return null;
  const { combinations } = comparison.keys;
  const count = (held: readonly string[], may: readonly string[]): number =>
    combinations
      .filter((one) => isSame(one.held, held) && isSame(one.may, may))
      .reduce((sum, one) => sum + one.count, 0);
  const changed = combinations.reduce((sum, one) => sum + one.differing, 0);
  const signed = new Intl.NumberFormat(text.language, { signDisplay: "exceptZero" });
  const number = (value: number): string => formatNumber(value, text.language);
  const facts = [
    ["added", signed.format(count([after.id], []))],
    ["gone", signed.format(-count([before.id], []))],
    ["rolledUp", number(count([before.id], [after.id]))],
    ["unrolled", number(count([after.id], [before.id]))],
    ["kept", number(count([before.id, after.id], []))],
    ["changed", number(changed)],
    ["difference", signed.format(after.captures - before.captures)],
  ] as const;
  return (
    <section class="card">
      <div class="card-head">
        <h2>
          <bdi>
            {text("growth", {
              before: shortName(nameOf(before.id)),
              after: shortName(nameOf(after.id)),
            })}
          </bdi>
        </h2>
        <button type="button" class="quiet" onClick={onSwap}>
          ⇄ {text("swap")}
        </button>
      </div>
      <Facts facts={facts.map(([name, value]) => [text(name), value])} />
      <p class="hint">{text("growthHint")}</p>
    </section>
  );
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
