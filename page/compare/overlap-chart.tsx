import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Combination, MapComparison } from "../../src/maps/compare/comparison.ts";
import { visible } from "../explore/part-label.ts";
import { COMPARE } from "../messages.ts";
import { formatNumber, formatPercent, useText } from "../text.ts";

const MOST_LINES = 20;

/** Which maps hold the same: a line for each set of maps, as in an UpSet plot. */
export function OverlapChart(props: {
  readonly comparison: MapComparison;
  readonly nameOf: (id: string) => string;
}): JSX.Element {
  const text = useText(COMPARE);
  const { comparison, nameOf } = props;
  const [unit, setUnit] = useState<"keys" | "domains">("keys");
  const { count, combinations } = comparison[unit];
  const shown = combinations.slice(0, MOST_LINES);
  const most = Math.max(1, ...shown.map((one) => one.count));
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text("overlap")}</h2>
        <div class="switch" role="group" aria-label={text("overlap")}>
          {(["keys", "domains"] as const).map((each) => (
            <button
              key={each}
              type="button"
              class="quiet"
              aria-pressed={unit === each}
              onClick={() => setUnit(each)}
            >
              {text(each === "keys" ? "byPages" : "byDomains")}
            </button>
          ))}
        </div>
      </div>
      <p class="hint">
        {text("all", { count })}. {text("overlapHint")}
      </p>
      <div class="scroller" tabIndex={0} role="region" aria-label={text("overlap")}>
        <table class="upset">
          <thead>
            <tr>
              {comparison.maps.map(({ id }) => (
                <th key={id} scope="col" class="set-name">
                  <bdi>{shortName(nameOf(id))}</bdi>
                </th>
              ))}
              <th scope="col" class="number">
                {text(unit === "keys" ? "countPages" : "countDomains")}
              </th>
              <th class="bar-cell">
                <span class="visually-hidden">{text("captures")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={`${one.held.join()}|${one.may.join()}`}>
                {comparison.maps.map(({ id }) => (
                  <td key={id} class="set">
                    <Dot combination={one} id={id} />
                  </td>
                ))}
                <td class="number">{formatNumber(one.count, text.language)}</td>
                <td class="bar-cell">
                  <svg
                    class="bar"
                    viewBox="0 0 100 10"
                    preserveAspectRatio="none"
                    aria-hidden="true"
                  >
                    <rect width={(100 * one.count) / most} height="10" />
                  </svg>
                  <span class="bar-note">
                    {formatPercent(one.count / Math.max(1, count), text.language)}
                    {one.differing > 0 && `, ${text("differing", { count: one.differing })}`}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Dot(props: { readonly combination: Combination; readonly id: string }): JSX.Element {
  const text = useText(COMPARE);
  const { combination, id } = props;
  const state = combination.held.includes(id)
    ? "holds"
    : combination.may.includes(id)
      ? "may"
      : "lacks";
  return (
    <svg class={`set-dot ${state}`} viewBox="0 0 16 16" role="img" aria-label={text(state)}>
      <circle cx="8" cy="8" r={state === "lacks" ? 2 : state === "may" ? 4.75 : 6} />
    </svg>
  );
}

export function shortName(name: string): string {
  const text = visible(name);
  return text.length <= 28 ? text : `${text.slice(0, 27)}…`;
}
