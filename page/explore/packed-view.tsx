import type { JSX } from "preact";
import type { PackedHoldings } from "../../src/maps/explore/packed-holdings.ts";
import { EXPLORE } from "../messages.ts";
import { Facts } from "../parts/facts.tsx";
import { formatNumber, useText } from "../text.ts";

/** What a packed map tells of its holdings. */
export function PackedView({ holdings }: { readonly holdings: PackedHoldings }): JSX.Element {
  const text = useText(EXPLORE);
  const number = (value: number): string => formatNumber(value, text.language);
  const facts = [
    ["rows", holdings.rows],
    ["hosts", holdings.hosts],
    ["names", holdings.names],
    ["voids", holdings.voids],
  ] as const;
  return (
    <section class="card packed">
      <h2>{text("packedTitle")}</h2>
      <p>{text("packedText")}</p>
      <Facts facts={facts.map(([name, value]) => [text(name), number(value)] as const)} />
      <h3>{text("depths")}</h3>
      <table class="depths">
        <thead>
          <tr>
            <th scope="col">{text("depth")}</th>
            <th scope="col">{text("pages")}</th>
            <th scope="col">{text("wildcards")}</th>
          </tr>
        </thead>
        <tbody>
          {holdings.depths.map(({ depth, hasPages, hasWildcards }) => (
            <tr key={depth}>
              <th scope="row">
                {depth === 0 ? text("home") : text(depth === 7 ? "seven" : "levels", { depth })}
              </th>
              <td>{text(hasPages ? "yes" : "no")}</td>
              <td>{text(hasWildcards ? "yes" : "no")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
