import { describe, expect, it } from "vitest";
import { MementoMapError } from "../../src/errors.ts";
import { Reloading } from "../../src/files/reloading.ts";

interface VersionedFile {
  readonly reloading: Reloading<string>;
  /** Versions that were taken, and failures. */
  readonly events: string[];
  version: string | undefined;
}

/** A file of versions that a test sets; some of them fail. */
function file(faults: Readonly<Record<string, Error>>): VersionedFile {
  const events: string[] = [];
  const made: VersionedFile = {
    events,
    version: undefined,
    reloading: new Reloading<string>({
      source: "file",
      stamp: () => Promise.resolve(made.version),
      take: async (stamp) => {
        const fault = faults[stamp];
        events.push(stamp);
        await Promise.resolve();
        if (fault !== undefined) throw fault;
      },
      onFailure: (error, isNews) => events.push(`${isNews ? "news" : "again"}: ${error.message}`),
    }),
  };
  return made;
}

const BAD = new MementoMapError("MM_BAD_INPUT", "bad");

describe("what is read from files", () => {
  it("is taken once for each version, and not where there is none", async () => {
    const kept = file({});
    await kept.reloading.check();
    kept.version = "1";
    await Promise.all([kept.reloading.check(), kept.reloading.check()]);
    kept.version = "2";
    await kept.reloading.check();
    await kept.reloading.check(() => true);
    expect(kept.events).toEqual(["1", "2", "2"]);
  });

  it("is not read again while it is refused, and is well with the next sound version", async () => {
    const kept = file({ "1": BAD });
    kept.version = "1";
    await kept.reloading.check();
    await kept.reloading.check();
    expect(kept.events).toEqual(["1", "news: bad"]);
    expect(kept.reloading.error).toBe(BAD);
    kept.version = "2";
    await kept.reloading.check();
    expect(kept.reloading.error).toBeUndefined();
  });

  it("is read again where the reading failed, which is news once", async () => {
    const full = Object.assign(new Error("too many open files"), { code: "EMFILE" });
    const kept = file({ "1": full });
    kept.version = "1";
    await kept.reloading.check();
    await kept.reloading.check();
    expect(kept.events.map((event) => event.split(":")[0])).toEqual(["1", "news", "1", "again"]);
    expect(kept.reloading.error?.code).toBe("MM_IO");
  });

  it("is checked again after a bug", async () => {
    const kept = file({ "1": new TypeError("a bug") });
    kept.version = "1";
    await expect(kept.reloading.check()).rejects.toThrow("a bug");
    kept.version = "2";
    await kept.reloading.check();
    await kept.reloading.settled;
    expect(kept.events).toEqual(["1", "2"]);
  });
});
