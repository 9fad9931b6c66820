import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeBlocks, ROOT } from "../support/code-blocks.ts";
import { scratchDir } from "../support/scratch.ts";
import { bundle } from "./bundle.ts";
import { SPARK_ENVIRONMENT, SPARK_HOME } from "./spark-session.ts";

describe.skipIf(SPARK_HOME === undefined)("the examples of docs/spark.md", () => {
  it("make the map that one machine makes", () => {
    const folder = scratchDir();
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const program = `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli/bin.js" "$@"\n`;
    writeFileSync(join(bin, "mementomap"), program, { mode: 0o755 });
    cpSync(join(ROOT, "spark"), join(folder, "spark"), { recursive: true });
    copyFileSync(bundle(), join(folder, "mementomap.tar.gz"));
    const python = SPARK_ENVIRONMENT["PYSPARK_PYTHON"] ?? "python3";
    const path = [
      bin,
      join(SPARK_HOME ?? "", "bin"),
      join(python, ".."),
      process.env["PATH"] ?? "",
    ];
    // The date of the map is that of the index.
    const { PYTHONPATH: _path, SOURCE_DATE_EPOCH: _date, ...rest } = SPARK_ENVIRONMENT;
    const tmp = join(folder, "tmp");
    mkdirSync(tmp);
    const env = { ...rest, PATH: path.join(delimiter), TMPDIR: tmp };
    const run = (script: string): void => {
      execFileSync("bash", ["-e", "-c", script], { cwd: folder, env, stdio: "pipe" });
    };
    const [submit, zip] = codeBlocks("docs/spark.md").filter(({ language }) => language === "sh");
    run(submit.text);
    run("mementomap generate -q index.cdxj -o local.ukvs");
    const whole = readFileSync(join(folder, "local.ukvs"), "utf8");
    expect(readFileSync(join(folder, "map.ukvs"), "utf8")).toBe(whole);
    const merged = (parts: string): string => {
      run(`mementomap merge ${parts}/part-*.ukvs -o merged.ukvs --force`);
      return readFileSync(join(folder, "merged.ukvs"), "utf8");
    };

    // In cluster mode the driver has nothing but what spark-submit was given.
    run(zip.text);
    copyFileSync(join(folder, "spark/submit.py"), join(folder, "submit.py"));
    const given = "--archives mementomap.tar.gz#mementomap --py-files mementomap_spark.zip";
    run(`spark-submit --master 'local[2]' ${given} submit.py generate index.cdxj -o zip`);
    expect(merged("zip")).toBe(whole);

    // The wheel, installed where nothing else is.
    const build = "--no-deps --no-build-isolation --quiet --disable-pip-version-check";
    run(`"${python}" -m pip wheel ${build} ./spark -w wheels`);
    run(`"${python}" -m pip install ${build} --no-index --target installed wheels/*.whl`);
    const command = "-m mementomap_spark generate index.cdxj -o wheel --executable";
    run(`rm -r spark && PYTHONPATH=installed "${python}" ${command} "$(command -v mementomap)"`);
    expect(merged("wheel")).toBe(whole);
    const left = readdirSync(tmp).filter((name) => name.startsWith("mementomap-"));
    expect(left).toEqual([]);
  });
});
