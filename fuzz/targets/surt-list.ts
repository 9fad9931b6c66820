import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "surts",
  seeds: () => [
    "com,a)/\ncom,a)/b?c=d\norg,b:8080)/\n",
    "com,a)\r\ncom,a,*\r\n192.0.2.1)/x\r\n",
    "dns:a.com\n(com,a,)/foreign\nhttp://(com,a,)/b\n\n",
  ],
  words: ["com,", ")/", "?", "*", "\t", "http://("],
});
