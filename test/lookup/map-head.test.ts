import { describe, expect, it } from "vitest";
import { MemorySource, SourceLines } from "../../src/bytes/byte-source.ts";
import { mapHeadOf, readMapHead } from "../../src/ukvs/head.ts";

const CDXJ = 'com,a)/ 20130727042553 {"url": "http://a.com/", "status": "200"}\n';
const INDEXES = {
  CDXJ: CDXJ,
  "CDXJ with headers": `!meta {"sample": true}\n\n${CDXJ}`,
  CDX: " CDX N b a m s k r M S V g\ncom,a)/ 20130727042553 http://a.com/ text/html 200 A - - 1 0 x\n",
  "CDX without a header": "com,a)/ 20130727042553 http://a.com/ text/html 200 A - - 1 0 x\n",
};
const OTHERS = {
  "a list": "http://a.com/\nhttp://b.com/\n",
  "a table": "id,key,count\n1,com,2\n",
  JSON: '{"a": 1}\n',
  prose: "hello world\n",
  "a program": "\x7fELF\0 \x01\x02\n",
};
const MAPS = {
  "no headers": "com,a)/ 12\n",
  "no end of a line": "com,a)/ 12",
  "no row": '!context ["https://git.io/mementomap"]\n',
  nothing: "",
  datetimes:
    '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ 20130727042553 1 {"x":1}\n',
  "other values": '!fields {"keys":["surt"],"values":["frequency","note"]}\ncom,a)/ 1 ok\n',
  "a quoted key": '"com,a)/ b" 12\n',
};

describe.each([
  [
    "readMapHead",
    (bytes: Uint8Array) => readMapHead(new SourceLines(new MemorySource(bytes, "f"))),
  ],
  ["mapHeadOf", (bytes: Uint8Array) => Promise.resolve(bytes).then((map) => mapHeadOf(map, "f"))],
])("%s", (_, headOf) => {
  const read = (text: string): ReturnType<typeof headOf> => headOf(new TextEncoder().encode(text));

  it.each(Object.entries(INDEXES))("refuses an index: %s", async (_name, text) => {
    await expect(read(text)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      position: { source: "f" },
      message: expect.stringMatching(/^this is a CDXJ? index, not a map;/) as string,
    });
  });

  it.each(Object.entries(OTHERS))("refuses %s", async (_name, text) => {
    await expect(read(text)).rejects.toMatchObject({
      code: expect.stringMatching(/^MM_BAD_(LINE|FREQUENCY)$/) as string,
      position: { source: "f", line: 1 },
    });
  });

  it.each(Object.entries(MAPS))("takes a map: %s", async (_name, text) => {
    const { recordsOffset } = await read(text);
    expect(text.slice(recordsOffset)).toBe(text.replace(/^(?:!.*\n)*/, ""));
  });

  it("names the line of a first row that is none", async () => {
    await expect(read('!meta {"a": 1}\n\ncom,a)/ often\n')).rejects.toMatchObject({
      code: "MM_BAD_FREQUENCY",
      position: { source: "f", line: 3 },
    });
  });
});
