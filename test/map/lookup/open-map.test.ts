import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openMap } from "../../../src/node.ts";
import { folderWith } from "../../support/folder-with.ts";

const openFiles = (): number => readdirSync("/proc/self/fd").length;

describe("openMap", () => {
  it.skipIf(process.platform !== "linux")("closes what it refuses", async () => {
    const files = {
      "index.cdxj": "com,a)/ 20130727042553 {}\n",
      "header.ukvs": "!meta {\ncom,a)/ 1\n",
      "index.cdxj.gz": gzipSync("com,a)/ 20130727042553 {}\n"),
    };
    const folder = folderWith(files);
    const paths = [folder, ...Object.keys(files).map((name) => `${folder}/${name}`)];
    const before = openFiles();
    for (const path of paths) {
      await expect(openMap(path)).rejects.toMatchObject({
        code: expect.stringMatching(/^MM_/) as string,
      });
    }
    expect(openFiles()).toBe(before);
  });
});
