import type { JSX } from "preact";
import type { PackedHoldings } from "../../src/maps/explore/packed-holdings.ts";
import { Facts } from "../parts/facts.tsx";
import { Table } from "../parts/table.tsx";
import { useText } from "../text.ts";

/** The summary of a packed map. */
export function PackedView({ holdings }: { readonly holdings: PackedHoldings }): JSX.Element {
  const text = useText("explore");
  const names = ["rows", "hosts", "names", "voids"] as const;
  const yesOrNo = (is: boolean): string => text(is ? "yes" : "no");
  return (
    <section class="card packed">
      <h2>{text("packedTitle")}</h2>
      <p>{text("packedText")}</p>
      <Facts facts={names.map((name) => [text(name), text.number(holdings[name])])} />
      <h3>{text("depths")}</h3>
      <Table
        class="depths"
        rows={holdings.depths}
        columns={[
          {
            name: text("depth"),
            cell: ({ depth }) =>
              depth === 0 ? text("home") : depth === 7 ? text("seven", { depth }) : depth,
          },
          { name: text("pages"), cell: ({ hasPages }) => yesOrNo(hasPages) },
          { name: text("wildcards"), cell: ({ hasWildcards }) => yesOrNo(hasWildcards) },
        ]}
      />
    </section>
  );
}
