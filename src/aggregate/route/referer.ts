/* Pages and their requisites: an archive that has a page is likely to have its images and styles too. */

/**
 * The page named by a `Referer` header, as the original URI that archives know.
 *
 * Aggregators and archives put a prefix before the original; the innermost URI counts:
 *
 *     http://localhost:1208/memento/20150101000000/http://x.example/   http://x.example/
 *     https://archive.example/web/20150101000000id_/x.example/a?b      http://x.example/a?b
 *     https://x.example/a                                              https://x.example/a
 *
 * Undefined for anything but a web address.
 */
export function pageOfReferer(referer: string): string | undefined {
  if (!/^https?:\/\//i.test(referer)) return undefined;
  const queryStart = referer.search(/[?#]/);
  const path = queryStart < 0 ? referer : referer.slice(0, queryStart);
  const inner = Math.max(path.lastIndexOf("/http://"), path.lastIndexOf("/https://"));
  if (inner > 0) return referer.slice(inner + 1);
  const replayed = REPLAYED_WITHOUT_SCHEME.exec(path);
  return replayed === null ? referer : `http://${referer.slice(replayed[0].length)}`;
}

const REPLAYED_WITHOUT_SCHEME = /^.*?\/\d{14}(?:[a-z]{2}_)?\/(?=[^/]+\.)/;

/**
 * Whether a URI looks like a page requisite rather than a page.
 *
 * Decides by the file extension of the path. URIs without one, or with that of a page, are pages: maps cover
 * those.
 */
export function looksLikePageRequisite(uri: string): boolean {
  const ending = PATH_ENDING.exec(uri);
  return ending !== null && REQUISITES.has(ending[1].toLowerCase());
}

const PATH_ENDING = /^(?:https?:\/\/|(?!https?:))[^/?#]*\/[^?#]*\.([a-z0-9]{2,5})(?:$|[?#])/i;

const REQUISITES: ReadonlySet<string> = new Set(
  (
    "css js mjs map json xml " +
    "png jpg jpeg jpe gif svg webp avif bmp ico cur tif tiff apng " +
    "woff woff2 ttf otf eot " +
    "mp3 mp4 m4a m4v ogg oga ogv webm wav mov avi flv swf vtt"
  ).split(" "),
);
