import { constants, openSync } from "node:fs";
import type { Socket } from "node:net";
import { ioError } from "./io-error.ts";

/** A pipe with a name, such as what a shell makes of `<(command)`. */
export interface NamedPipe {
  chunks(): AsyncGenerator<Uint8Array, void, undefined>;
  close(): Promise<void>;
}

/**
 * Opens a pipe such that nothing blocks. A read of a file waits on a thread of Node's, and a process
 * cannot end while one of these waits: for a writer who may never come.
 *
 * @throws MM_IO
 */
export function openPipe(path: string): NamedPipe {
  const socket = connect(path);
  return {
    async *chunks() {
      try {
        for await (const chunk of socket) yield chunk as Uint8Array; // no encoding is set
      } catch (error) {
        throw ioError(error, path);
      }
    },
    close() {
      socket.destroy();
      return Promise.resolve();
    },
  };
}

function connect(path: string): Socket {
  try {
    // Loaded only where it is needed: nearly all inputs are files.
    const { Socket: PipeSocket } = process.getBuiltinModule("node:net");
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return new PipeSocket({ fd, readable: true, writable: false });
  } catch (error) {
    throw ioError(error, path);
  }
}
