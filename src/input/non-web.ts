const encoder = new TextEncoder();

/** Schemes of records that crawlers keep beside pages; no lookup ever asks for them. */
const NON_WEB_SCHEMES = ["dns:", "warcinfo:", "filedesc:", "metadata:", "whois:"].map((scheme) =>
  encoder.encode(scheme),
);

/** Whether a SURT or URI names a record of something that is no web page. */
export function isNonWeb(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start];
  for (const scheme of NON_WEB_SCHEMES) {
    if (first === scheme[0] && startsWith(bytes, start, end, scheme)) return true;
  }
  return false;
}

function startsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  if (end - start < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}
