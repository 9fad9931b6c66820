import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "urls",
  seeds: () => [
    "http://a.com/\nhttps://www.b.org/c?d=e#f\n",
    "a.com\r\n\r\n# no comment\r\nhttp://[::1]:80/\r\n",
    "dns:a.com\nmailto:a@b\nhttp://bücher.example/ß\n http://c.com/ \n",
    "http://a.com/*\nhttp://a.com/%2A\nhttp://a.com/a b\thttp\n",
  ],
  words: ["http://", "\n", "#", "*", "\t", "www."],
});
