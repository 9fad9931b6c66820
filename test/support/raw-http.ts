import { connect } from "node:net";
import { once } from "node:events";

/** Sends raw bytes to a server and returns everything it sends until it closes the connection. */
export async function rawExchange(url: string, request: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(request);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.on("error", () => undefined); // a reset is a valid outcome
  await once(socket, "close");
  return answer;
}

/** A GET whose target is sent byte by byte, after which the connection is closed. */
export async function rawGet(url: string, target: string, headers: string = ""): Promise<string> {
  return rawExchange(
    url,
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`,
  );
}
