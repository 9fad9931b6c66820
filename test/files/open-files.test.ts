import { expect, it } from "vitest";
import {
  filesForArchives,
  mostOpenFiles,
  reserveFiles,
  roomForFiles,
} from "../../src/files/open-files.ts";

it("knows how many files may be opened, as far as the system tells", () => {
  expect(roomForFiles()).toBeGreaterThan(0);
  expect(roomForFiles() <= mostOpenFiles()).toBe(true);
});

it("keeps files for the server with the most clients", () => {
  reserveFiles(5);
  reserveFiles(3);
  expect(filesForArchives(100)).toBe(91);
});

it("leaves half of the files for archives, however many clients may come", () => {
  expect(filesForArchives(20_000, 18_976)).toBe(9996);
  expect(filesForArchives(1000, 800)).toBe(496);
  expect(filesForArchives(4, 100)).toBe(1);
  expect(filesForArchives(Infinity, 100)).toBe(Infinity);
});
