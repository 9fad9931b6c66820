import { chooseEncoding } from "../../src/http/reply.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "a coding that is at hand, or none; the order of items does not matter",
  seeds: () => [
    "gzip, deflate, br;q=1.0, *;q=0.5",
    "zstd;q=0.9, gzip;q=0.8, identity;q=0",
    "identity, *;q=0",
    "x-gzip ; q = 1.000,,",
    "",
  ],
  words: ["gzip", "zstd", "identity", "*", ";q=", "q=0.001", ", "],
  run(input) {
    const text = latin1(input);
    const chosen = chooseEncoding(text, ["zstd", "gzip"]);
    must(chosen === undefined || chosen === "zstd" || chosen === "gzip", "a coding", chosen);
    if (chosen === "gzip") must(/gzip|\*/i.test(text), "gzip was named", text);
    if (chosen === "zstd") must(/zstd|\*/i.test(text), "zstd was named", text);
  },
};
