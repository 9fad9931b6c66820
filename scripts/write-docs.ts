import { writeFileSync } from "node:fs";
import { apiDocs } from "./api-docs.ts";
import { cliDocs } from "./cli-docs.ts";

writeFileSync(new URL("../docs/cli.md", import.meta.url), await cliDocs());
writeFileSync(new URL("../docs/api.md", import.meta.url), apiDocs());
