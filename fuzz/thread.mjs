// Threads do not inherit the loader of TypeScript on Node 20.
import { register } from "tsx/esm/api";

register();
await import("./thread.ts");
