import { parquetWriteBuffer } from "hyparquet-writer";
import { readFooter, rowGroups } from "../../src/input/parquet.ts";
import { must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const URIS = ["http://a.com/", "http://a.com/b", "http://b.org/"];

export const target: TargetDefinition = {
  holds: "the footer of any file is read or refused; row groups follow each other",
  seeds: () => [
    parquet({ url: URIS, url_surtkey: ["com,a)/", "com,a)/b", "org,b)/"] }),
    parquet({ url: URIS, fetch_time: ["2014", "2015", "2016"], content_mime_type: URIS }),
    parquet({ x: ["y"] }),
  ],
  words: ["PAR1", "url", "url_surtkey"],
  async run(input) {
    const { buffer } = input.slice();
    const file = await readFooter(
      { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) },
      "input.parquet",
    );
    let end = 0;
    for (const { rowStart, rowEnd } of rowGroups(file)) {
      must(rowStart === end && rowEnd >= rowStart, "a row group", { rowStart, rowEnd });
      end = rowEnd;
    }
  },
};

function parquet(columns: Readonly<Record<string, readonly string[]>>): Uint8Array {
  const columnData = Object.entries(columns).map(([name, data]) => ({
    name,
    data: [...data],
    type: "STRING" as const,
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
