import { createServer, request as ask, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendWhole } from "../../src/http/send.ts";

/** A server that answers when as many requests have come, all in one turn of the event loop. */
async function answering(
  count: number,
  answer: (response: ServerResponse, path: string) => void,
): Promise<string> {
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    waiting.push(() => answer(response, request.url ?? ""));
    if (waiting.length === count) for (const next of waiting) next();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The status and the body that came, or why none did. */
function came(url: string, method = "GET"): Promise<string> {
  return new Promise((resolve) => {
    const sent = ask(url, { method, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(`${response.statusCode} ${text}`));
    });
    sent.on("error", ({ message }) => resolve(message)).end();
  });
}

const fields = ["Content-Type", "text/plain"];

describe("whole answers", () => {
  it("go to their clients, all that were given in one turn", async () => {
    const url = await answering(20, (response, path) =>
      sendWhole(response, { status: 203, fields, body: path.repeat(1000) }),
    );
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
    const bodies = await Promise.all(
      paths.map((path, i) => came(url + path, i === 0 ? "HEAD" : "GET")),
    );
    expect(bodies).toEqual(paths.map((path, i) => `203 ${i === 0 ? "" : path.repeat(1000)}`));
  });

  it("are given to others when one cannot be sent, or its connection is gone", async () => {
    const faults: unknown[] = [];
    const url = await answering(3, (response, path) => {
      const bad = path === "/bad" ? ["X-Bad", "line\nline"] : [];
      try {
        sendWhole(response, { status: 200, fields: [...fields, ...bad], body: "well" });
      } catch (error) {
        // It is said at once, while there can still be another answer.
        faults.push(error);
        response.writeHead(500).end();
      }
      if (path === "/gone") response.destroy();
    });
    const [bad, gone, good] = ["/bad", "/gone", "/good"].map((path) => came(url + path));
    expect(await good).toBe("200 well");
    expect(await bad).toBe("500 ");
    expect(await gone).toBe("socket hang up");
    expect(faults).toHaveLength(1);
  });
});
