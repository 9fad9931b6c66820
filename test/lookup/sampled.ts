import type { ByteSource } from "../../src/bytes/byte-source.ts";
import { KeySamples, SortedSource } from "../../src/lookup/sorted-source.ts";
import { MapSearch } from "../../src/lookup/map-search.ts";
import { surveyMap } from "../../src/maps/map-survey.ts";

/** A map searched by samples of its keys, with segments of this size, of which this much is kept. */
export async function sampledSearch(
  source: ByteSource,
  segmentBytes: number,
  maxBytes: number,
): Promise<MapSearch> {
  const samples = new KeySamples({ segmentBytes });
  const { plan } = await surveyMap(source, {
    onRow: ({ offset, bytes, start, keyEnd }, isNew) => {
      if (isNew) samples.add(offset, bytes, start, keyEnd);
    },
  });
  return new MapSearch(SortedSource.sampled(source, plan.headers, samples, { maxBytes }));
}
