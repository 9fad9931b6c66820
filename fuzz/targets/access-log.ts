import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = indexTarget({
  format: "log",
  seeds: () => [
    '192.0.2.1 - - [10/Oct/2016:13:55:36 +0000] "GET /web/20160101000000/http://a.com/b HTTP/1.1" 200 2326 "http://x.org/" "Mozilla/5.0"\n',
    '192.0.2.1 - frank [10/Oct/2016:13:55:36 -0700] "GET /web/2016id_/http://a.com/ HTTP/1.0" 404 -\n192.0.2.1 - - [10/Oct/2016:13:55:37 +0000] "HEAD /coll/http://a.com/?x=%20 HTTP/1.1" 302 0\n',
    '2001:db8::1 - - [10/Oct/2016:13:55:36 +0000] "GET /\\"x\\" HTTP/1.1" 200 1\n',
    '- - - [] "-" 400 -',
  ],
  words: [
    '"GET /web/2016/http://',
    ' HTTP/1.1" 200 ',
    "[10/Oct/2016:13:55:36 +0000]",
    '\\"',
    "id_/",
    '" "',
  ],
});
