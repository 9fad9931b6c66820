import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "cdxj",
  seeds: () => [
    'com,a)/ 20140101000000 {"url": "http://a.com/", "mime": "text/html", "status": "200", "digest": "sha1:X"}\n',
    'com,a)/b?x=1 2014 {"status":"404","url":"http://a.com/b?x=1"}\ncom,a)/b?x=1 2015 {"url":"http://a.com/b?x=1","mime":"warc/revisit","status":"-"}\n',
    '!meta 0 {"a": 1}\r\norg,x:8080)/%20 20161201 {}\r\n\r\n',
    'com,b)/é 20140102030405123 {"url": "http://b.com/\\u00e9\\"", "status": 200, "a": {"b": [1, null]}}\n',
    'com,b)/robots.txt 20140102030405 {"url": "http://b.com/robots.txt", "mime": "text/html", "status": "200"}',
  ],
  words: [
    '{"url": "',
    '", "status": "',
    '"mime": "warc/revisit"',
    '"}',
    "\\u",
    '"',
    "dns:",
    "com,a)/",
    " 2014 ",
  ],
});
