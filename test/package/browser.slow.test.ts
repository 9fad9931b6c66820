import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

describe("the core", () => {
  it("bundles for a browser, without anything of Node", async () => {
    const { outputFiles, metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: ["src/index.ts"],
      bundle: true,
      platform: "browser",
      format: "esm",
      target: "es2022",
      write: false,
      metafile: true,
      // Comments may speak of Node.
      minifyWhitespace: true,
      logLevel: "silent",
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((path) => /src\/(node|cli)\//.test(path))).toEqual([]);
    const code = outputFiles[0]?.text ?? "";
    // Bytes are found faster in a Buffer, where there is one.
    const guarded = /typeof Buffer\b[^}]*\bBuffer\.from\([^)]*\)/;
    expect(code.replace(guarded, "")).not.toMatch(/\bBuffer\b|\bprocess\./);
    // It also runs where there is no `require`, `process` or `Buffer`.
    const source = code.replace(/export\s*\{[\s\S]*\};?\s*$/, "uriKey(uri);");
    const globals = { TextEncoder, TextDecoder, URL, uri: "http://www.example.com/A/" };
    expect(runInNewContext(source, globals)).toBe("com,example)/a");
  });
});
