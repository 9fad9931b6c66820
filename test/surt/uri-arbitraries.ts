import * as fc from "fast-check";

const SESSION_ID = "0123456789abcdefghijklemopqrstuv";
const ASP_NET_ID = "4hqa0555fwsecu455xqckv45";

/** What URIs are made of, and what has broken other tools. */
const PIECES = [
  ["http://", "https://", "http:", "HTTP://", "ftp://", "foo:", "dns:", "mailto:", "filedesc:"],
  ["www.", "www2.", "WWW.", "example", "com", ".", "..", "-", "_", "a", "B", "9"],
  ["@", "[", "::1", "]", ":80", ":443", ":8080", ":0", ":99999", ":x"],
  ["127.0.0.1", "010", "0x7f", "3279880203", "256"],
  [
    "/",
    "//",
    "/./",
    "/../",
    "%2e",
    "%2F",
    "%41",
    "%2541",
    "%",
    "%zz",
    "%00",
    "%20",
    "%c3%a9",
    "%ff",
  ],
  [
    " ",
    "\t",
    "\n",
    "\u000b",
    "\u0001",
    "\u007f",
    "\\",
    ";",
    "(",
    ")",
    "*",
    ",",
    "!",
    '"',
    "{",
    "+",
  ],
  ["?", "#", "&", "=", "&&", "a=1", "b=2", "A", "%26", "%3D", "%3f", "id="],
  [`/(${ASP_NET_ID})/`, `/(S(${ASP_NET_ID}))/`, ".aspx", `jsessionid=${SESSION_ID}`],
  [`sid=${SESSION_ID}`, "cfid=1&cftoken=2", "ASPSESSIONIDabcdefgh=ABCDEFGHIJKLMNOPQRSTUVWX"],
  ["é", "ß", "☃", "\u3002", "א", "\u200d", "\ufffd", "😀", "\ud800"],
].flat();

/** Addresses as people have them: the fast path takes nearly all of these. */
const ordinaryUri: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("http://", "https://"),
    fc.stringMatching(/^([A-Za-z][a-z0-9-]{0,5}\.){0,3}[a-z]{2,4}$/),
    fc.constantFrom("", "", ":80", ":443", ":8080"),
    fc.stringMatching(/^(\/[A-Za-z0-9._~(-]{0,5}(%2[0-9a-fA-F]|%[a-fA-F][0-9]){0,2}){0,4}\/?$/),
    fc.stringMatching(/^(\?([A-Za-z]{0,3}(=[A-Za-z0-9%=-]{0,4}){0,2}&?){0,5})?$/),
    fc.constantFrom("", "", "#top"),
  )
  .map((parts) => parts.join(""));

/** Any text: ordinary addresses, odd mixtures of their pieces, and noise. */
export const anyUri: fc.Arbitrary<string> = fc.oneof(
  ordinaryUri,
  fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary" }),
);
