import { describe, expect, it } from "vitest";
import { cdxJsonRows } from "../../src/input/cdx-json.ts";
import { rowTexts } from "../support/batch-text.ts";
import { runCli } from "../support/run-cli.ts";

const HEAD = '["urlkey","timestamp","original","mimetype","statuscode"]';
const ROW = '["com,a)/","20140101000000","http://a.com/","text/html","200"]';
const LINE = "http://a.com/\t20140101000000\ttext/html\t200\tcom,a)/";

async function lines(text: string): Promise<string[]> {
  const options = { source: "answer", maxLineBytes: 1 << 20 };
  return rowTexts(cdxJsonRows(chunksOf(text), options));
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe("answers of CDX servers in JSON", () => {
  it.each([
    ["nothing", "[]", []],
    ["no rows", `[${HEAD}]`, []],
    ["rows", `[${HEAD},\n${ROW},${ROW}]`, [LINE, LINE]],
    ["a resume key at the end", `[${HEAD},${ROW},[],["com%2Ca"]]`, [LINE]],
    ["an empty row at the end", `[${HEAD},${ROW},[]]`, [LINE]],
    [
      "what is not a row, which is kept to be counted",
      `[${HEAD},["com,a)/x","2014"],[],${ROW},null,5]`,
      ['["com,a)/x","2014"]', "[]", LINE, "null", "5"],
    ],
    [
      "objects",
      '[{"urlkey":"com,a)/","timestamp":"2014","url":"http://a.com/"},null]',
      ["http://a.com/\t2014\t-\t-\tcom,a)/", "null"],
    ],
  ])("are arrays of %s", async (_what, text, expected) => {
    expect(await lines(text)).toEqual(expected);
  });

  it("are lines of objects, and of what is none", async () => {
    const text = '{"urlkey":"com,a)/","timestamp":"2014"}\n\nnull\n5\n[1]\n{}\n{"broken\tx\n';
    expect(await lines(text)).toEqual([
      "-\t2014\t-\t-\tcom,a)/",
      "",
      "null",
      "5",
      "[1]",
      "{}",
      '{"broken%09x',
    ]);
  });

  it.each([
    ["[[", "not a JSON array: "],
    [
      '[["a","b"],["1","2"]]',
      "the first row must name the columns, urlkey or original among them: ",
    ],
  ])("are not arrays of rows: %s", async (text, message) => {
    await expect(lines(text)).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringContaining(message),
      position: { source: "answer" },
    });
  });

  it("without a datetime are shown as they stand in the file", async () => {
    const row = '{"url": "https://a.com/"}';
    expect(await lines(`${row}\n`)).toEqual([row]);
  });

  it("are counted line by line, with those that are bad", async () => {
    const good = '{"urlkey":"com,a)/","timestamp":"20140101000000","url":"http://a.com/"}';
    const stdin = [good, "", "null", "{broken", '{"a":1}', good].join("\n");
    const bad = await runCli(["generate", "-q", "--threads", "1"], { stdin });
    expect(bad.code).toBe(2);
    expect(bad.stderr).toBe(
      'mementomap: stdin:3: expected a capture, with a URI or its key and a datetime: "null"; --skip-bad skips and counts such lines [MM_BAD_LINE]\n',
    );
    const { code, stderr } = await runCli(["generate", "--json", "--skip-bad", "--threads", "1"], {
      stdin,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({ lines: 6, blank: 1, bad: 3, captures: 2 });
  });
});
