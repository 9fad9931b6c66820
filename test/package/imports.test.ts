import { readdir, readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

/** Helpers of bundlers come in unseen: `</script>` in a tagged template brought one. */
it("imports only packages that users have", async () => {
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(join(ROOT, "package.json"), "utf8"),
  ) as Record<"dependencies" | "peerDependencies", Record<string, string>>;
  const known = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
  const files = await readdir(join(ROOT, "dist"), { recursive: true });
  const scripts = files.filter((path) => path.endsWith(".js") && !path.startsWith("page"));
  expect(scripts.length).toBeGreaterThan(20);
  for (const path of scripts) {
    const text = await readFile(join(ROOT, "dist", path), "utf8");
    const imports = text.matchAll(/(?:^|;)import\s*(?:[^"';]*?\bfrom)?\s*["']([^."'][^"']*)["']/gm);
    const names = Array.from(imports, ([, name = ""]) => name).filter((name) => !isBuiltin(name));
    const unknown = names.filter(
      (name) => !known.some((each) => name === each || name.startsWith(`${each}/`)),
    );
    expect({ path, unknown }).toEqual({ path, unknown: [] });
  }
});
