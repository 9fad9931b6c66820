import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  datetimeOfEpochMs,
  epochMs,
  formatDatetime,
  formatHttpDate,
  formatRfc3339,
  parseAcceptDatetime,
  parsePaddedDatetime,
  tryParseDatetime,
  tryReadDatetime,
} from "../../src/memento/datetime.ts";

const seconds = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 });
const datetimes = seconds.map((second) => datetimeOfEpochMs(second * 1000));

describe("datetimes", () => {
  it("are what the calendar says", () => {
    fc.assert(
      fc.property(seconds, (second) => {
        const date = new Date(second * 1000);
        const datetime = datetimeOfEpochMs(second * 1000 + 999);
        expect(formatDatetime(datetime)).toBe(
          date.toISOString().replaceAll(/\D/g, "").slice(0, 14),
        );
        expect(epochMs(datetime)).toBe(second * 1000);
        expect(formatHttpDate(datetime)).toBe(date.toUTCString());
        expect(formatRfc3339(datetime)).toBe(`${date.toISOString().slice(0, 19)}Z`);
      }),
    );
  });

  it("are read as they are written, as text and as bytes", () => {
    fc.assert(
      fc.property(datetimes, (datetime) => {
        const http = formatHttpDate(datetime);
        for (const text of [http, formatRfc3339(datetime), formatDatetime(datetime)]) {
          expect(tryParseDatetime(text)).toBe(datetime);
        }
        for (const text of [http, formatRfc3339(datetime), formatDatetime(datetime)]) {
          const bytes = Buffer.from(`"${text}"`);
          expect(tryReadDatetime(bytes, 1, bytes.length - 1)).toBe(datetime);
        }
      }),
    );
  });

  it.each([
    ["Wed, 9 Apr 2008 20:30:51 GMT", 20080409203051],
    ["wed, 09 apr 2008 20:30:51 gmt", 20080409203051],
    ["Wednesday, 09-Apr-2008 20:30:51 GMT", 20080409203051],
    ["09 Apr 2008 20:30:51 UTC", 20080409203051],
    ["Wed, 09 Apr 2008 20:30:51", 20080409203051],
    ["Wed, 09 Apr 2008 22:30:51 +0200", 20080409203051],
    [" Wed, 09 Apr 2008 20:30 GMT ", 20080409203000],
    ["2008-04-09T20:30:51.250Z", 20080409203051],
    ["2008-04-09 20:30:51", 20080409203051],
    ["2008-04-09T15:30:51-05:00", 20080409203051],
    ["20080409203051", 20080409203051],
    ["Thu, 29 Feb 2024 00:00:00 GMT", 20240229000000],
  ])("are read from %j", (text, datetime) => {
    expect(tryParseDatetime(text)).toBe(datetime);
    expect(tryReadDatetime(Buffer.from(text), 0, Buffer.byteLength(text))).toBe(datetime);
  });

  it.each([
    "",
    "then",
    "2008",
    "Wed, 31 Apr 2008 20:30:51 GMT",
    "Thu, 29 Feb 2023 00:00:00 GMT",
    "Wed, 09 Apr 2008 24:30:51 GMT",
    "Wed, 09 Xyz 2008 20:30:51 GMT",
    "Wed, 09 Apr 20:8 20:30:51 GMT",
    "0000-01-01T00:00:00+01:00",
    "20081301000000",
  ])("are not read from %j", (text) => {
    expect(tryParseDatetime(text)).toBeUndefined();
    expect(tryReadDatetime(Buffer.from(text), 0, Buffer.byteLength(text))).toBeUndefined();
    expect(() => parseAcceptDatetime(text)).toThrow(
      expect.objectContaining({ code: "MM_BAD_INPUT" }),
    );
  });

  it.each([
    ["2008", 20080101000000],
    ["200804", 20080401000000],
    ["20080409", 20080409000000],
    ["2008040920", 20080409200000],
    ["200804092030", 20080409203000],
    ["20080409203051", 20080409203051],
  ])("are padded: %s", (text, datetime) => {
    expect(parsePaddedDatetime(text)).toBe(datetime);
  });

  it.each(["", "208", "20081", "200813", "20080431", "2008040924", "200804092030511", "2008-04"])(
    "are not padded: %s",
    (text) => {
      expect(() => parsePaddedDatetime(text)).toThrow(
        expect.objectContaining({ code: "MM_BAD_INPUT" }),
      );
    },
  );
});
