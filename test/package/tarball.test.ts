import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

const run = promisify(execFile);

describe("the package", () => {
  let folder = "";
  let installed = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "mementomap-pack-"));
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: ROOT });
    const [tarball = ""] = await readdir(folder);
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    const install = [
      "install",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
      join(folder, tarball),
    ];
    await run("npm", install, { cwd: folder });
    installed = join(folder, "node_modules", "mementomap");
  }, 120_000);

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it("has what users need, and no tests or benches", async () => {
    const files = await readdir(installed);
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "dist", "src"]));
    expect(files).not.toContain("test");
    expect(files).not.toContain("bench");
  });

  it("can be imported by its entries", async () => {
    const script = `
      import { uriKey } from "mementomap";
      import { FileSource } from "mementomap/node";
      import { Publisher } from "mementomap/server";
      console.log(uriKey("http://example.com/"), typeof FileSource.open, typeof Publisher.open);
    `;
    const node = ["--input-type=module", "-e", script];
    const { stdout } = await run(process.execPath, node, { cwd: folder });
    expect(stdout).toBe("com,example)/ function function\n");
  });

  it("has its kernels", async () => {
    const kernels = await readdir(join(installed, "dist", "kernel"));
    expect(kernels.sort()).toEqual(["compact.wasm", "scan-cdxj.wasm"]);
  });

  it("has a command that runs, threads included", async () => {
    const bin = join(folder, "node_modules", ".bin", "mementomap");
    const index = join(folder, "index.cdxj");
    await run(bin, ["sample", "--lines", "60000", "-o", index]);
    const map = join(folder, "map.ukvs");
    await run(bin, ["generate", "--threads", "2", index, "-o", map]);
    const { stdout } = await run(bin, ["validate", map]);
    expect(stdout).toBe("");
  });
});
