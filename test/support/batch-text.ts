import { type CaptureBatch, rowEnd, rowStart } from "../../src/input/capture-batch.ts";

/** The text of each row of some batches, as errors show it. */
export async function rowTexts(batches: AsyncIterable<CaptureBatch>): Promise<string[]> {
  const texts: string[] = [];
  for await (const batch of batches) {
    for (let i = 0; i < batch.length; i++) {
      const row = batch.bytes.subarray(rowStart(batch, i), rowEnd(batch, i));
      texts.push(Buffer.from(row).toString());
    }
  }
  return texts;
}
