import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { MapStream } from "../../src/library/map-stream.ts";
import { compact, generate, merge } from "../../src/node.ts";
import { scratchDir } from "../support/scratch.ts";

const blocks = ["a", "b", "c"].map((text) => new TextEncoder().encode(text));

function stream(made: string[] = []): MapStream<number> {
  return new MapStream(async (write) => {
    for (const block of blocks) {
      made.push(new TextDecoder().decode(block));
      await write(block);
    }
    return made.length;
  });
}

describe("MapStream", () => {
  it("gives bytes, text, a stream of the web, and a stream for pipeline", async () => {
    expect(await stream().text()).toBe("abc");
    expect(await stream().bytes()).toEqual(new TextEncoder().encode("abc"));
    expect(await new Response(stream().readable()).text()).toBe("abc");
    const path = join(scratchDir(), "out");
    await pipeline(stream(), createWriteStream(path));
    expect(readFileSync(path, "utf8")).toBe("abc");
  });

  it("tells its summary at the end, and makes no more than is read", async () => {
    const made: string[] = [];
    const abc = stream(made);
    const read = abc[Symbol.asyncIterator]();
    await read.next();
    expect(made.length).toBeLessThan(3);
    for await (const _ of read);
    expect(await abc.summary).toBe(3);
  });

  it("can be read once", async () => {
    const once = stream();
    await once.bytes();
    await expect(once.bytes()).rejects.toMatchObject({ code: "MM_USAGE" });
  });

  it("ends the work when it is left", async () => {
    const made: string[] = [];
    const left = stream(made);
    for await (const _ of left) break;
    expect(made.length).toBeLessThan(3);
    await expect(left.summary).rejects.toMatchObject({ code: "MM_INTERRUPTED" });
    const cancelled = stream();
    await cancelled.readable().cancel();
  });

  it("fails as the work does, also its summary", async () => {
    const failing = compact(new Blob(["com,b)/ 1\ncom,a)/ 1\n"]));
    await expect(failing.bytes()).rejects.toMatchObject({ code: "MM_NOT_SORTED" });
    await expect(failing.summary).rejects.toMatchObject({ code: "MM_NOT_SORTED" });
  });

  it("passes from one function to the next", async () => {
    const index = new Blob(["http://a.com/\nhttp://a.com/b\n"]);
    const other = new Blob(["http://c.org/\n"]);
    const small = compact(merge([generate([index]), generate([other])]), { pathWeight: 0 });
    expect((await small.text()).replaceAll(/^!.*\n/gm, "")).toBe("com,a)/* 2\norg,c)/ 1\n");
  });
});
