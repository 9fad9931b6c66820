import type { Server } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MementoMapError } from "../../src/errors.ts";
import { listen } from "../../src/http/listen.ts";

describe("a server that cannot take a connection", () => {
  it("tells of it each time, and goes on", async () => {
    const errors: MementoMapError[] = [];
    let server: Server | undefined;
    const listening = await listen(
      {
        handle: (request, response) => {
          // Not documented, and the only way to the server from here.
          ({ server } = request.socket as unknown as { server: Server });
          response.end("here");
          return true;
        },
        handleUnknown: () => undefined,
      },
      { port: 0, onError: (error) => errors.push(error) },
    );
    onTestFinished(() => listening.stop());
    const ask = async (): Promise<string> => (await fetch(listening.url)).text();
    expect(await ask()).toBe("here");
    for (let i = 0; i < 3; i++) {
      const error = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
      server?.emit("error", error);
    }
    expect(errors.map(({ code }) => code)).toEqual(["MM_IO", "MM_IO", "MM_IO"]);
    expect(await ask()).toBe("here");
  });
});
