import { expect, it } from "vitest";
import {
  mostOpenFiles,
  reservedFiles,
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
  expect(reservedFiles()).toBe(5);
});
