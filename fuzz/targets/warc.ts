import { warcRecord } from "../../test/support/warc-fixture.ts";
import { indexTarget } from "../index-target.ts";
import type { TargetDefinition } from "../target.ts";

const HTTP = "HTTP/1.1 200 OK\nContent-Type: text/html";

export const target: TargetDefinition = indexTarget({
  format: "warc",
  seeds: () => [
    warcRecord({ type: "response", uri: "http://a.com/", http: HTTP, body: "hi" }),
    Buffer.concat([
      warcRecord({ type: "warcinfo", body: "software: x\r\n" }),
      warcRecord({ type: "request", uri: "http://a.com/", http: "GET / HTTP/1.1\nHost: a.com" }),
      warcRecord({ type: "response", uri: "<http://a.com/b>", http: HTTP }),
      warcRecord({ type: "revisit", uri: "http://a.com/b", http: HTTP }),
    ]),
    Buffer.concat([
      warcRecord({ type: "resource", uri: "http://a.com/é", contentType: "image/png", body: "x" }),
      warcRecord({ type: "metadata", uri: "metadata://x" }),
      warcRecord({ type: "response", uri: "dns:a.com", contentType: "text/dns" }),
    ]),
    Buffer.from(
      "WARC/0.18\nWARC-Type: response\nWARC-Target-URI:\n http://a.com/\nWARC-Date: 2014-01-26T20:06:24.123456Z\nContent-Length: 17\n\nHTTP/1.0 404 No\n\n\n\n",
    ),
  ],
  words: [
    "WARC/1.0\r\n",
    "WARC-Type: response\r\n",
    "WARC-Target-URI: ",
    "WARC-Date: ",
    "Content-Length: ",
    "Content-Type: application/http;msgtype=response\r\n",
    "HTTP/1.1 200 OK\r\n",
    "\r\n\r\n",
  ],
});
