import { writeFileSync } from "node:fs";
import { cliDocs } from "./cli-docs.ts";
import { httpDocs } from "./http-docs.ts";

const docs = new URL("../docs/", import.meta.url);
writeFileSync(new URL("cli.md", docs), await cliDocs());
writeFileSync(new URL("http.md", docs), httpDocs());
