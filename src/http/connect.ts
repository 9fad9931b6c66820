import {
  connect as connectPlain,
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
} from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { FAULT, httpFault } from "./http-fault.ts";

/** Where a connection leads. */
export interface ConnectTarget {
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** A connection through a proxy that leads there already; TLS is spoken on it. */
  readonly tunnel?: Duplex | undefined;
}

export interface ConnectOptions {
  readonly timeoutMs: number;
  /** How names become addresses; default the system's way. */
  readonly lookup?: LookupFunction | undefined;
  /** The path of a socket of this machine, in place of a host and a port. */
  readonly socketPath?: string | undefined;
}

/** Called once: with a connection that is ready, or with what went wrong. */
type Connected = (error: Error | undefined, socket?: Socket) => void;

/** Makes a connection. `onread` says how it is read; a tunnel is read as streams are. */
export type Connect = (target: ConnectTarget, onread: OnReadOpts, callback: Connected) => void;

/** The system asks after this time whether the other side is still there. */
const PROBE_AFTER_MS = 60_000;
/** TLS sessions that are kept, so that the next connection to a host is made faster. */
const MAX_SESSIONS = 100;

/** Gives a function that connects over TCP, with TLS where the target asks for it. */
export function connector({
  timeoutMs,
  lookup,
  socketPath,
}: ConnectOptions): (...args: Parameters<Connect>) => Socket {
  const sessions = new Map<string, Buffer>();
  return (target, onread, callback) => {
    const { hostname, port, isSecure } = target;
    const place =
      socketPath === undefined ? { host: hostname, port, lookup } : { path: socketPath };
    const socket = isSecure
      ? connectSecurely(target, { ...place, onread }, sessions)
      : connectPlain({ ...place, onread });
    socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
    const timer = setTimeout(() => {
      const message = `no connection to ${hostname} within ${timeoutMs} ms`;
      socket.destroy(httpFault(message, FAULT.connectTimeout));
    }, timeoutMs);
    let isSettled = false;
    const settle = (error: Error | undefined): void => {
      clearTimeout(timer);
      if (isSettled) return;
      isSettled = true;
      if (error === undefined) callback(undefined, socket);
      else callback(error);
    };
    socket.once(isSecure ? "secureConnect" : "connect", () => settle(undefined));
    socket.on("error", settle);
    socket.once("close", () => settle(new Error("the connection was ended")));
    return socket;
  };
}

function connectSecurely(
  { hostname, port, tunnel }: ConnectTarget,
  place: object,
  sessions: Map<string, Buffer>,
): TLSSocket {
  // Loaded where it is needed: most commands make no such connection.
  const tls = process.getBuiltinModule("node:tls");
  const name = `${hostname}:${port}`;
  const socket = tls.connect({
    ...place,
    ...(tunnel === undefined ? undefined : { socket: tunnel }),
    // Addresses have no name to ask for.
    servername: isIP(hostname) === 0 ? hostname : "",
    session: sessions.get(name),
    ALPNProtocols: ["http/1.1"],
  });
  return socket.on("session", (session: Buffer) => {
    sessions.delete(name);
    sessions.set(name, session);
    if (sessions.size <= MAX_SESSIONS) return;
    for (const oldest of sessions.keys()) {
      sessions.delete(oldest);
      break;
    }
  });
}
