import fc from "fast-check";

/**
 * On CI, properties are tried on the same cases in every run, so that a change is judged by itself.
 * Elsewhere each run explores other cases; a failure prints the seed that repeats it.
 */
if (process.env["CI"] !== undefined) fc.configureGlobal({ seed: 20_190_602 });
