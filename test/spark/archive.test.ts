import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./bundle.ts";

const ROWS = Array.from(
  { length: 100_000 },
  (_, i) =>
    `org,e${i % 700})/${i} 20140102030405 {"url": "http://e${i % 700}.org/${i}", "mime": "text/html", "status": "200"}\n`,
);

describe("the archive with Node", () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
    mkdirSync(join(folder, "mementomap"));
    execFileSync("tar", ["-C", join(folder, "mementomap"), "-xzf", bundle()]);
    // More than a thread is worth, so that threads and kernels are used.
    writeFileSync(join(folder, "index.cdxj"), ROWS.join(""));
    writeFileSync(join(folder, "index.cdxj.gz"), gzipSync(ROWS.join("")));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const commands = [
    ["--version"],
    ["generate", "index.cdxj", "--threads", "2", "-o", "plain.ukvs"],
    ["generate", "index.cdxj.gz", "-o", "inflated.ukvs"],
    ["compact", "--max-lines", "500", "plain.ukvs", "-o", "small.ukvs"],
    ["pack", "plain.ukvs", "-o", "map.packed"],
    ["lookup", "map.packed", "http://e5.org/5"],
  ];

  it("runs without PATH, HOME, or Node elsewhere", () => {
    for (const args of commands) {
      const program = join(folder, "mementomap/bin/mementomap");
      const done = spawnSync(program, args, { cwd: folder, env: {}, encoding: "utf8" });
      expect(done.stderr + done.stdout).not.toMatch(/MM_|should not/);
      expect(done.status).toBe(0);
    }
    const map = readFileSync(join(folder, "plain.ukvs"), "utf8");
    expect(map).toContain("\norg,e5)/5 1\n");
  });

  it.runIf(process.platform === "linux" && process.getuid?.() === 0)(
    "runs in a root with nothing but a shell and the C library",
    () => {
      const root = join(folder, "root");
      mkdirSync(join(root, "tmp"), { recursive: true });
      const node = join(folder, "mementomap/bin/node");
      for (const program of ["/bin/sh", node]) {
        const linked = execFileSync("ldd", [program], { encoding: "utf8" });
        for (const [, path = ""] of linked.matchAll(/(\/\S+) \(0x/g)) {
          mkdirSync(join(root, dirname(path)), { recursive: true });
          cpSync(path, join(root, path), { dereference: true });
        }
      }
      mkdirSync(join(root, "bin"), { recursive: true });
      cpSync("/bin/sh", join(root, "bin/sh"), { dereference: true });
      cpSync(join(folder, "mementomap"), join(root, "mementomap"), { recursive: true });
      cpSync(join(folder, "index.cdxj"), join(root, "index.cdxj"));
      for (const args of commands.filter((args) => !args.includes("index.cdxj.gz"))) {
        const inside = [root, "/mementomap/bin/mementomap", ...args];
        const done = spawnSync("/usr/sbin/chroot", inside, { env: {}, encoding: "utf8" });
        expect(done.stderr + done.stdout).not.toMatch(/MM_|should not/);
        expect(done.status).toBe(0);
      }
    },
  );
});
