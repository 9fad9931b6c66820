import { gzipSync } from "node:zlib";

export interface ZipNumFixture {
  readonly data: Buffer;
  /** Lines `key datetime TAB part TAB offset TAB length TAB number`, as in pywb. */
  readonly index: string;
  /** Lines `key datetime {"offset": …}` after a `!meta` line, as in WACZ files. */
  readonly waczIndex: string;
}

/** Cuts sorted CDXJ lines into gzip members of `linesPerBlock`, and describes them. */
export function zipNum(
  lines: readonly string[],
  linesPerBlock: number,
  part: string,
): ZipNumFixture {
  const members: Buffer[] = [];
  let index = "";
  let waczIndex = `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "${part}"}\n`;
  let offset = 0;
  for (let at = 0; at < lines.length; at += linesPerBlock) {
    const block = lines.slice(at, at + linesPerBlock);
    const member = gzipSync(block.map((line) => `${line}\n`).join(""));
    const [key = "", date = ""] = (block[0] ?? "").split(" ");
    index += `${key} ${date}\t${part}\t${offset}\t${member.length}\t${members.length + 1}\n`;
    waczIndex += `${key} ${date} ${JSON.stringify({ offset, length: member.length })}\n`;
    members.push(member);
    offset += member.length;
  }
  return { data: Buffer.concat(members), index, waczIndex };
}
