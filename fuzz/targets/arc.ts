import { arcFile, arcRecord, versionBlock } from "../../test/support/arc-fixture.ts";
import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

const HTTP = "HTTP/1.1 200 OK\nContent-Type: text/html";

export const target: TargetDefinition = indexTarget({
  format: "arc",
  seeds: () => [
    arcFile([{ uri: "http://a.com/", http: HTTP, body: "hi" }]),
    arcFile([
      { uri: "dns:a.com", type: "text/dns", body: "1.2.3.4" },
      { uri: "http://a.com/b c", http: "HTTP/1.0 404 No" },
      { uri: "http://a.com/d", date: "19990101", body: "no header" },
    ]),
    Buffer.concat([
      versionBlock(2, "<arcmetadata/>"),
      arcRecord({ uri: "http://a.com/", http: HTTP, more: " 200 - - 0 x.arc" }),
    ]),
  ],
  words: [
    "filedesc://x.arc 0.0.0.0 20060101000000 text/plain 76\n",
    "1 0 Test\n",
    "URL IP-address Archive-date Content-type Archive-length\n",
    " 192.0.2.1 20060102030405 text/html 10\n",
    "HTTP/1.1 200 OK\r\n",
  ],
});
