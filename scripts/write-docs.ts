import { writeFileSync } from "node:fs";
import { cliDocs } from "./cli-docs.ts";

writeFileSync(new URL("../docs/cli.md", import.meta.url), await cliDocs());
