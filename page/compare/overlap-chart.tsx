import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Combination } from "../../src/maps/compare/comparison.ts";
import { Bar } from "../parts/bar.tsx";
import { CardSwitch } from "../parts/switch.tsx";
import { useText } from "../text.ts";
import type { ComparedProps } from "./sizes.tsx";

const MAX_LINES = 20;

/** The overlap of maps: one line per set of maps, as in an UpSet plot. */
export function OverlapChart({ comparison, nameOf }: ComparedProps): JSX.Element {
  const text = useText("compare");
  const [unit, setUnit] = useState<"keys" | "domains">("keys");
  const { count, combinations } = comparison[unit];
  const lines = combinations.slice(0, MAX_LINES);
  const max = Math.max(1, ...lines.map((line) => line.count));
  return (
    <section class="card">
      <CardSwitch
        title={text("overlap")}
        choices={[
          ["keys", text("byPages")],
          ["domains", text("byDomains")],
        ]}
        value={unit}
        onChoose={setUnit}
      />
      <p class="hint">
        {text("all", { count })}. {text("overlapHint")}
      </p>
      <div class="scroller" tabIndex={0} role="region" aria-label={text("overlap")}>
        <table class="upset">
          <thead>
            <tr>
              {comparison.maps.map(({ id }) => (
                <th key={id} scope="col" class="set-name">
                  <bdi>{nameOf(id)}</bdi>
                </th>
              ))}
              <th scope="col" class="number">
                {text(unit === "keys" ? "byPages" : "byDomains")}
              </th>
              <th class="bar-cell">
                <span class="visually-hidden">{text("captures")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={`${line.held.join()}|${line.may.join()}`}>
                {comparison.maps.map(({ id }) => (
                  <td key={id} class="set">
                    <Dot combination={line} id={id} />
                  </td>
                ))}
                <td class="number">{text.number(line.count)}</td>
                <td class="bar-cell">
                  <Bar share={line.count / max} />
                  <small>
                    {text.percent(line.count / Math.max(1, count))}
                    {line.differing > 0 && `, ${text("differing", { count: line.differing })}`}
                  </small>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const RADIUS = { holds: 6, may: 4.75, lacks: 2 } as const;

function Dot(props: { readonly combination: Combination; readonly id: string }): JSX.Element {
  const text = useText("compare");
  const { held, may } = props.combination;
  const state = held.includes(props.id) ? "holds" : may.includes(props.id) ? "may" : "lacks";
  return (
    <svg class={`set-dot ${state}`} viewBox="0 0 16 16" role="img" aria-label={text(state)}>
      <circle cx="8" cy="8" r={RADIUS[state]} />
    </svg>
  );
}
