import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { supposedLookups } from "../../../src/map/pack/host-lookups.ts";
import { HostProfiles } from "../../../src/map/pack/host-profiles.ts";
import { HostNeeds, mistaken } from "../../../src/map/pack/row-widths.ts";

/** Hosts of so many rows. */
function hostsOf(rows: readonly number[]): HostProfiles {
  const profiles = new HostProfiles();
  rows.forEach((count, i) => {
    profiles.rows[profiles.push(i, i)] = count;
  });
  return profiles;
}

describe("bits of hosts that nobody has asked for yet", () => {
  const rows = fc.array(fc.integer({ min: 1, max: 1e6 }), { minLength: 1, maxLength: 50 });
  const exponent = fc.double({ min: 0.1, max: 1, noNaN: true });
  const bits = fc.integer({ min: 8, max: 80 }).map((eighths) => eighths / 8);

  it("never leave twice as many mistakes as the same bits for all, if every row attracts as many", () => {
    fc.assert(
      fc.property(rows, exponent, bits, (counts, beta, average) => {
        const profiles = hostsOf(counts);
        const { mixed, byPrior, byRows } = supposedLookups(profiles, beta);
        const needs = new HostNeeds(profiles.rows, mixed, [byPrior, byRows]);
        const [wrongByPrior, wrongByRows] = needs.widths(average).wrong;
        const same = mistaken(average, 1);
        expect(wrongByRows).toBeLessThan(2 * same);
        expect((wrongByPrior + wrongByRows) / 2).toBeLessThan(1.02 * same);
      }),
    );
  });

  it("are more for small hosts", () => {
    const profiles = hostsOf([1_000_000, ...Array.from({ length: 100 }, () => 100)]);
    const { mixed } = supposedLookups(profiles, 0.5);
    const offsets = new HostNeeds(profiles.rows, mixed).widths(3).offsets();
    expect(offsets[1]).toBeGreaterThan(offsets[0] + 3);
  });
});
