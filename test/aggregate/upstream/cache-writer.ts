// A program of its own: fills a cache without end, to be killed in the middle of a write.
import { openDiskStore } from "../../../src/aggregate/upstream/disk-store.ts";

const [folder = ""] = process.argv.slice(2);
const store = await openDiskStore(folder, { maxBytes: 2 ** 30 });
const answerOf = (number: number): Parameters<typeof store.put>[1] => ({
  receivedAt: 0,
  status: 200,
  url: `http://example.com/${number}`,
  headerBlock: "x-number: 1\r\n",
  requestHeaders: {},
  body: Buffer.alloc(1_000_000, String(number)),
});

for (let number = 0; ; number++) {
  store.put(`stay \nhttp://example.com/${number % 40}`, answerOf(number % 40));
  if (number % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  process.stdout.write(`${number}\n`);
}
