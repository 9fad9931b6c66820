import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ModelArchive } from "./archive-model.ts";
import { delayMs, outcomeOf } from "./archive-model.ts";
import type { FleetCommand, FleetReport } from "./fleet-process.ts";
import { NOT_FOUND, timeGateAnswer, timeMapAnswer, UNAVAILABLE } from "./timemap-answers.ts";

/*
 * A program that plays all archives in one process, each on a port of its own. It reads requests from
 * bare sockets, without a server of HTTP, because what it costs is taken from what is measured.
 */
const HEAD_END = Buffer.from("\r\n\r\n");

class PlayedArchive {
  readonly #model: ModelArchive;
  readonly #originals: ReadonlySet<string>;
  readonly #answers = new Map<string, Buffer>();
  readonly server: Server;
  #base = "";
  requests = 0;
  connections = 0;

  constructor(model: ModelArchive) {
    this.#model = model;
    const held = readFileSync(model.holdings, "utf8").split("\n");
    this.#originals = new Set(held.filter((line) => line !== ""));
    this.server = createServer({ noDelay: true }, (socket) => {
      this.#converse(socket);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve);
    });
    this.#base = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this.#base;
  }

  #converse(socket: Socket): void {
    this.connections += 1;
    let pending: Buffer | undefined;
    socket.on("error", () => undefined); // aggregators may hang up whenever they like
    socket.on("data", (chunk: Buffer) => {
      let bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
      for (let end = bytes.indexOf(HEAD_END); end !== -1; end = bytes.indexOf(HEAD_END)) {
        this.#answer(socket, bytes.toString("latin1", 0, bytes.indexOf(13)));
        bytes = bytes.subarray(end + 4);
      }
      pending = bytes.length === 0 ? undefined : bytes;
    });
  }

  #answer(socket: Socket, requestLine: string): void {
    this.requests += 1;
    const start = requestLine.indexOf("/");
    const cut = requestLine.indexOf("/", start + 1) + 1;
    const kind = requestLine.slice(start + 1, cut - 1);
    const original = requestLine.slice(cut, requestLine.lastIndexOf(" "));
    const outcome = outcomeOf(this.#model, original);
    if (outcome === "hang") return;
    const bytes = outcome === "error" ? UNAVAILABLE : this.#answerTo(kind, original);
    const delay = delayMs(this.#model, original);
    if (delay === 0) socket.write(bytes);
    else setTimeout(() => socket.write(bytes), delay);
  }

  #answerTo(kind: string, original: string): Buffer {
    if (!this.#originals.has(original)) return NOT_FOUND;
    const name = `${kind} ${original}`;
    let bytes = this.#answers.get(name);
    if (bytes === undefined) {
      const make = kind === "timegate" ? timeGateAnswer : timeMapAnswer;
      bytes = make(this.#base, this.#model.id, original);
      this.#answers.set(name, bytes);
    }
    return bytes;
  }
}

const models = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ModelArchive[];
const fleet = models.map((model) => new PlayedArchive(model));
const addresses = await Promise.all(fleet.map((archive) => archive.listen()));

process.on("message", (command: FleetCommand) => {
  if (command === "stop") process.exit(0);
  report(fleet.map(({ requests, connections }) => ({ requests, connections })));
  for (const archive of fleet) {
    archive.requests = 0;
    archive.connections = 0;
  }
});
process.on("disconnect", () => process.exit(0));
report([]);

function report(counts: FleetReport["counts"]): void {
  process.send?.({ addresses, counts } satisfies FleetReport);
}
