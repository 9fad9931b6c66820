import type { JSX } from "preact";
import type { MapComparison } from "../../src/maps/compare/comparison.ts";
import { Facts } from "../parts/facts.tsx";
import { Table } from "../parts/table.tsx";
import { useText } from "../text.ts";

export interface ComparedProps {
  readonly comparison: MapComparison;
  readonly nameOf: (id: string) => string;
}

/** The totals of each map. */
export function Sizes({ comparison, nameOf }: ComparedProps): JSX.Element {
  const text = useText("compare");
  const numbers = ["captures", "rows", "domains", "tlds", "wildcards", "voids"] as const;
  return (
    <section class="card">
      <h2>{text("sizes")}</h2>
      <Table
        class="domains"
        label={text("sizes")}
        rows={comparison.maps}
        columns={[
          { name: text("map"), cell: ({ id }) => <bdi>{nameOf(id)}</bdi> },
          ...numbers.map((name) => ({
            name: text(name),
            class: "number",
            cell: (map: MapComparison["maps"][number]) => text.number(map[name]),
          })),
        ]}
      />
    </section>
  );
}

/**
 * Additions and removals between two versions of a map. A page that lost its own row but is covered by a
 * wildcard was not removed: it was rolled up.
 */
export function Growth(props: ComparedProps & { readonly onSwap: () => void }): JSX.Element | null {
  const text = useText("compare");
  const { comparison, nameOf, onSwap } = props;
  const [before, after] = comparison.maps;
  if (before === undefined || after === undefined || comparison.maps.length !== 2) return null;
  const { combinations } = comparison.keys;
  const count = (held: readonly string[], may: readonly string[] = []): number =>
    combinations
      .filter((one) => isSame(one.held, held) && isSame(one.may, may))
      .reduce((sum, one) => sum + one.count, 0);
  const changed = combinations.reduce((sum, one) => sum + one.differing, 0);
  const facts = [
    ["added", text.signed(count([after.id]))],
    ["gone", text.signed(-count([before.id]))],
    ["rolledUp", text.number(count([before.id], [after.id]))],
    ["unrolled", text.number(count([after.id], [before.id]))],
    ["kept", text.number(count([before.id, after.id]))],
    ["changed", text.number(changed)],
    ["difference", text.signed(after.captures - before.captures)],
  ] as const;
  return (
    <section class="card">
      <div class="card-head">
        <h2>
          <bdi>{text("growth", { before: nameOf(before.id), after: nameOf(after.id) })}</bdi>
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
