import { execFile } from "node:child_process";
import {
  access,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { build as buildWithVite } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

const run = promisify(execFile);

/** What a program that failed has written. */
function outcome(error: unknown): { stdout: string } {
  if (error instanceof Error && "stdout" in error) return { stdout: String(error.stdout) };
  throw error;
}

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
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "dist", "docs"]));
    expect(files).not.toContain("test");
    expect(files).not.toContain("bench");
  });

  it("stays small", async () => {
    const entries = await readdir(installed, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(files.length).toBeLessThanOrEqual(600);
    expect(bytes).toBeLessThanOrEqual(4e6);
  });

  it("has the pages that its README links to", async () => {
    const readme = await readFile(join(installed, "README.md"), "utf8");
    const links = Array.from(readme.matchAll(/\]\((?!https?:)([^)#]+)/g), ([, path = ""]) => path);
    expect(links).toContain("docs/format.md");
    for (const path of new Set(links)) {
      // In the repository only: for those who work on it, and pictures.
      const isElsewhere = path === "CONTRIBUTING.md" || path.startsWith("docs/pictures/");
      if (!isElsewhere) await access(join(installed, path));
    }
  });

  it("has types that a strict project takes, those of its dependencies included", async () => {
    // The types of Node are all that a user adds.
    const modules = join(folder, "node_modules");
    await mkdir(join(modules, "@types"), { recursive: true });
    for (const name of ["@types/node", "undici-types"]) {
      await symlink(join(ROOT, "node_modules", name), join(modules, name));
    }
    await writeFile(
      join(folder, "strict.ts"),
      `import { type Answer, openMap } from "mementomap";
       import { FreshMap, openAggregator, openMap as openFile } from "mementomap/node";
       import { createAggregatorService, createPublisher } from "mementomap/server";
       await using map = await openMap(new TextEncoder().encode("com,a)/ 1"));
       const answer: Answer = await map.lookup("http://a.com/", { at: new Date() });
       console.log(answer.present, FreshMap, openAggregator, openFile);
       console.log(createAggregatorService, createPublisher);`,
    );
    const settings = {
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
        module: "nodenext",
        target: "es2023",
        types: ["node"],
      },
      files: ["strict.ts"],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const tsc = join(ROOT, "node_modules", ".bin", "tsc");
    const { stdout } = await run(tsc, ["-p", folder], { cwd: folder }).catch(outcome);
    expect(stdout).toBe("");
  }, 60_000);

  it("can be imported by its entries", async () => {
    const script = `
      import { uriKey } from "mementomap";
      import { openMap } from "mementomap/node";
      import { createPublisher } from "mementomap/server";
      console.log(uriKey("http://example.com/"), typeof openMap, typeof createPublisher);
    `;
    const node = ["--input-type=module", "-e", script];
    const { stdout } = await run(process.execPath, node, { cwd: folder });
    expect(stdout).toBe("com,example)/ function function\n");
  });

  it("can be required", async () => {
    const script = `
      const { uriKey } = require("mementomap");
      console.log(uriKey("http://a.com/"), typeof require("mementomap/node").openMap);
      console.log(typeof require("mementomap/server").createPublisher);
    `;
    const node = ["--input-type=commonjs", "-e", script];
    const { stdout } = await run(process.execPath, node, { cwd: folder });
    expect(stdout).toBe("com,a)/ function\nfunction\n");
  });

  describe.each(["esm", "cjs"] as const)("bundled into one file, as %s", (format) => {
    /** A program that stands alone, and what it writes. Optional packages are not installed. */
    async function bundled(name: string, program: string): Promise<string> {
      const entry = join(folder, `${name}.${format}.ts`);
      await writeFile(entry, program);
      const alone = await mkdtemp(join(tmpdir(), "mementomap-alone-"));
      const outfile = join(alone, format === "esm" ? "program.mjs" : "program.cjs");
      const banner =
        'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';
      try {
        await build({
          absWorkingDir: folder,
          entryPoints: [entry],
          outfile,
          bundle: true,
          platform: "node",
          format,
          ...(format === "esm" ? { banner: { js: banner } } : {}),
          logLevel: "silent",
        });
        const { stdout } = await run(process.execPath, [outfile], { cwd: alone });
        return stdout;
      } finally {
        await rm(alone, { recursive: true });
      }
    }

    it("makes and reads maps without optional packages, and says what Parquet needs", async () => {
      const program = `
        import { writeFileSync } from "node:fs";
        import { generateMapFile, openMap } from "mementomap/node";
        async function main() {
          const row = 'com,a)/ 20150101000000 {"url": "http://a.com/", "status": "200"}\\n';
          writeFileSync("index.cdxj", row);
          await generateMapFile(["index.cdxj"], "map.ukvs");
          const map = await openMap("map.ukvs");
          console.log(await map.has("http://a.com/"));
          await map.close();
          writeFileSync("index.parquet", "PAR1PAR1");
          await generateMapFile(["index.parquet"], "other.ukvs").catch((error) => {
            console.log(error.code);
          });
        }
        void main();
      `;
      expect(await bundled("node", program)).toBe("true\nMM_USAGE\n");
    });

    it("serves", async () => {
      const program = `
        import { createPublisher } from "mementomap/server";
        console.log(typeof createPublisher);
      `;
      expect(await bundled("server", program)).toBe("function\n");
    });
  });

  it("bundles with vite", async () => {
    const entry = join(folder, "vite-entry.js");
    await writeFile(
      entry,
      `import { writeFileSync } from "node:fs";
       import { openMap } from "mementomap/node";
       import { createPublisher } from "mementomap/server";
       writeFileSync("vite.ukvs", "com,a)/ 1\\n");
       const map = await openMap("vite.ukvs");
       console.log(await map.has("http://a.com/"), typeof createPublisher);
       await map.close();`,
    );
    await buildWithVite({
      root: folder,
      logLevel: "silent",
      build: { ssr: entry, outDir: join(folder, "vite-out"), target: "node20" },
      ssr: { noExternal: true },
    });
    const { stdout } = await run(process.execPath, [join("vite-out", "vite-entry.js")], {
      cwd: folder,
    });
    expect(stdout).toBe("true function\n");
  }, 60_000);

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
