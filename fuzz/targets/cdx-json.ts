import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "json",
  seeds: () => [
    '[["urlkey","timestamp","original","mimetype","statuscode","digest","length"],\n["com,a)/", "20140101000000", "http://a.com/", "text/html", "200", "X", "123"],\n["com,a)/b", "2015", "http://a.com/b", "warc/revisit", "-", "X", "12"]]\n',
    '{"urlkey": "com,a)/", "timestamp": "20140101000000", "url": "http://a.com/", "mime": "text/html", "status": "200"}\n{"urlkey": "com,a)/b", "timestamp": "2015", "url": "http://a.com/\\u00e9", "status": 404}\n',
    "[]",
    '[["original"],["http://a.com/"]]',
  ],
  words: [
    '"urlkey"',
    '"timestamp"',
    '"original"',
    '"statuscode"',
    '["',
    '"],',
    '{"url":',
    "\\u0041",
    "[[",
    "]]",
  ],
});
