import { surt, surtBytes } from "../../src/surt/uri-to-surt.ts";
import { surtKey } from "../../src/surt/key.ts";
import { lookupKeys } from "../../src/surt/covering-keys.ts";
import { must, mustEqual, outcomeOf, sometimesLong, utf8 } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const encoder = new TextEncoder();
const written = new Uint8Array(1 << 20);
const MARGIN = 7;

export const target: TargetDefinition = {
  holds:
    "strings and bytes give the same SURT; a key is its own key, and the first to be looked up",
  seeds: () => [
    "http://www.Example.com:80/a/./b/../c.html?b=2&a=1#frag",
    "https://user:pass@www2.example.co.uk:8443/%7Efoo/%E2%82%AC?x=%zz&jsessionid=0A1B",
    "http://[2001:db8::1]:8080/index.php?PHPSESSID=0123456789abcdef0123456789abcdef",
    "http://192.168.0.1/a//b;jsessionid=1.worker",
    "http://0x7f.1/",
    "example.com",
    "//example.com/path",
    "dns:example.com",
    "mailto:a@b.com",
    "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "http://bücher.example/straße?q=漢字",
    "ftp://ftp.example.org/pub/*",
    "http://example.com/(S(4hqa0555fwsecu455xqckv45))/page.aspx",
    "http://a.com/*/*/%2a/%2C",
    "http://%2C.a.b c.com/ d",
    "http://xn--bcher-kva.example.:80/a?&&=&sid=00112233445566778899aabbccddeeff",
  ],
  words: [
    "www.",
    "www1.",
    "http:",
    "jsessionid=",
    "PHPSESSID=",
    "sid=",
    "?",
    "&",
    "@",
    ":80",
    "[",
    "]",
  ],
  run(input, random) {
    const text = utf8(sometimesLong(input, random, 32_768));
    const ofString = outcomeOf(() => surt(text));
    const bytes = encoder.encode(text);
    const ofBytes = outcomeOf(() => {
      const end = surtBytes(bytes, 0, bytes.length, written, MARGIN);
      return utf8(written.subarray(MARGIN, end));
    });
    mustEqual(ofBytes, ofString, "the SURT of bytes");
    if (!("value" in ofString)) return;
    const key = surtKey(ofString.value);
    mustEqual(surtKey(key), key, "the key of a key");
    // All keys as strings are as many as the URI has parts.
    if (text.length > 4096) return;
    const keys = lookupKeys(ofString.value);
    must(
      keys.some((candidate) => candidate.key === key),
      "its key is looked up",
      key,
    );
  },
};
