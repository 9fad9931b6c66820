import { LARGEST_ORIGINAL_SHARE } from "./archive-shape.ts";
import { CaptureTimes } from "./capture-times.ts";
import { CaptureWriter } from "./capture-writer.ts";
import { hostGroups } from "./host-walk.ts";
import { LineBudget } from "./line-budget.ts";
import { Random } from "../../bytes/random.ts";
import { checkSampleOptions } from "./sample-options.ts";
import type { SampleOptions } from "./sample-options.ts";
import { openSite, originalPaths } from "./site.ts";

/**
 * Yields the index of a made-up archive: CDXJ, sorted by bytes, in chunks that end with a line.
 *
 * Its shape is that of Arquivo.pt in the MementoMap paper: the shares of top-level domains, host
 * and path depths, children per node, originals per key, mementos per original, years and status
 * codes. It has what makes indexes awkward too: queries, ports, IP addresses, single-label and IDN
 * hosts, and names whose byte order is not that of the tree.
 *
 * The tree is walked in byte order, so nothing is sorted but siblings. Memory is bounded by one
 * chunk and the siblings along one branch, whatever the number of lines.
 *
 * @throws {MementoMapError} `MM_USAGE` if an option is out of range.
 */
export function* sampleIndex(options: SampleOptions): Generator<Uint8Array> {
  const { seed, lines, startYear, endYear } = checkSampleOptions(options);
  const random = new Random(seed, "captures");
  const writer = new CaptureWriter(random, new CaptureTimes(startYear, endYear));
  const most = Math.max(20, Math.round(lines * LARGEST_ORIGINAL_SHARE));
  for (const group of hostGroups(seed, lines)) {
    const budget = new LineBudget(random, group, most);
    for (const host of group.hosts) {
      const { authority, walk } = openSite(seed, host);
      for (let stop = walk.next(); stop !== undefined; stop = walk.next()) {
        if (stop.startsKey) budget.startKey();
        for (const path of originalPaths(stop)) {
          if (!budget.hasSpare) break;
          const { mime } = stop.resource;
          writer.begin({ surt: `${host.surt})${path}`, address: authority + path, mime });
          for (let left = budget.draw(stop.resource); left > 0; left--) {
            if (writer.isFull) yield writer.take();
            writer.capture(left);
          }
        }
      }
    }
  }
  yield writer.take();
}
