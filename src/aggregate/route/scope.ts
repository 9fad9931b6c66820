const LABEL = String.raw`[a-z0-9:._%~[\]-]+`;
/** Labels up to a comma; or a whole host, and folders of it. */
const PREFIX = new RegExp(
  String.raw`^(?:(?:${LABEL},)+|(?:${LABEL},)*${LABEL}\)(?:/(?:[!-@[-~]*/)?)?)$`,
);

/** What is said of a scope that is none. */
export const SCOPE_EXPECTED =
  "a list of prefixes of keys is expected, in lower case, such as" +
  ' ["gov,", "com,example)/news/"] for http://….gov/ and http://example.com/news/';

/**
 * Whether a value is the scope of an archive: prefixes of keys that end where a label, a host or a folder
 * does. One that ends elsewhere would be taken for what is above it, `gov` for the whole Web.
 */
export function isScope(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.every((prefix) => typeof prefix === "string" && PREFIX.test(prefix))
  );
}
