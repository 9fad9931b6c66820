import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WordPicker } from "../../src/harvest/sample-search.ts";

const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 20 });

function drained(picker: WordPicker): string[] {
  const words: string[] = [];
  for (let word = picker.next(); word !== undefined; word = picker.next()) words.push(word);
  return words;
}

describe("WordPicker", () => {
  it("chooses the same words for the same seed and texts, each once", () => {
    fc.assert(
      fc.property(fc.nat(), texts, (seed, all) => {
        const pick = (): string[] => {
          const picker = new WordPicker(seed, ["mar", "sol", "mar"]);
          const words = [picker.next() ?? ""];
          for (const text of all) picker.learn(text);
          return [...words, ...drained(picker)];
        };
        const words = pick();
        expect(pick()).toEqual(words);
        expect(new Set(words).size).toBe(words.length);
        expect(words).toEqual(expect.arrayContaining(["mar", "sol"]));
      }),
    );
  });

  it("chooses the same words when it is told what was learnt, at any point", () => {
    fc.assert(
      fc.property(fc.nat(), texts, fc.nat(20), (seed, all, stop) => {
        const whole = new WordPicker(seed, ["mar"]);
        const resumed = new WordPicker(seed, ["mar"]);
        for (const [i, text] of all.entries()) {
          expect(resumed.next()).toBe(whole.next());
          const learnt = whole.learn(text);
          expect(i < stop ? resumed.add(learnt) : resumed.learn(text)).toEqual(learnt);
        }
        expect(drained(resumed)).toEqual(drained(whole));
      }),
    );
  });

  it("learns words of three letters and more, in small letters, without marks", () => {
    const picker = new WordPicker(1, []);
    expect(picker.learn("Água e SAL, o mar-alto; x86 ab 3com água")).toEqual([
      "água",
      "sal",
      "mar",
      "alto",
      "x86",
      "com",
    ]);
    expect(picker.learn("sal")).toEqual([]);
  });

  it("holds no more words than it may", () => {
    const picker = new WordPicker(1, ["one", "two"], 3);
    expect(picker.learn("three four")).toEqual(["three"]);
    expect(drained(picker)).toHaveLength(3);
    expect(picker.learn("five")).toEqual([]);
  });

  it("depends on the seed", () => {
    const words = Array.from({ length: 20 }, (_, i) => `word${i}`);
    expect(drained(new WordPicker(1, words))).not.toEqual(drained(new WordPicker(2, words)));
  });
});
