import { expect, it } from "vitest";
import { openMap } from "../../src/node.ts";
import { packedBytes } from "../pack/packed-bytes.ts";
import { serveOnLoopback } from "../support/http-server.ts";

it("opens the packed form of a map at an address that has both, if told to", async () => {
  const text = "com,a)/ 5\ncom,a)/b 1\n";
  const forms = [new TextEncoder().encode(text), (await packedBytes(text, { bits: 16 })) ?? ""];
  const url = await serveOnLoopback((_, response, { headers }) => {
    const isPacked = headers.accept?.includes("application/vnd.mementomap.packed") === true;
    const body = Buffer.from(forms[isPacked ? 1 : 0]);
    const [, first = "0", last = "0"] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? "") ?? [];
    const part = body.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${body.length}`;
    response.writeHead(206, { "Content-Range": range, ETag: `"${isPacked}"` }).end(part);
  });
  for (const [packed, frequency] of [
    [true, "/"],
    [false, "5"],
  ] as const) {
    await using map = await openMap(new URL(url), { packed });
    expect(await map.lookup("http://a.com/")).toMatchObject({ present: true, frequency });
  }
});
