import type { Random } from "../../bytes/random.ts";

const WORDS =
  "a acores agenda album aluno amigo antigo arquivo arte artigo aula autor autarquia banco bar base biblioteca blog boletim cabo camara campo carro casa catalogo centro ciencia cidade clube comercio concelho conta contacto cor cultura curso dados desporto diario directorio doc edicao editora empresa en escola espaco estado eventos exame farmacia feira festa ficha filme foto forum galeria gente grupo guia historia home hotel img imprensa index info inicio instituto jogo jornal junta lei leitor lista livro loja lusa mapa mar media mercado mes moda mundo musica noite norte noticia nova obra opiniao pagina parque pdf pessoa ponte portal porto praia produto projecto pt radio rede regiao revista rio rua saber saude servico site sol sul tag tecnica tema tempo teatro texto turismo uni user util valor verde viagem vida video vinho voz web zona";

/** Every word is lower case ASCII and none ends in `q`: {@link strangerLabel} relies on it. */
const VOCABULARY = WORDS.split(" ");
const SHORT_WORDS = VOCABULARY.filter((word) => word.length <= 4);

/** Punycode labels of non-ASCII names, such as `café`, `informação` and `câmara`. */
const IDN_LABELS =
  "xn--aores-yra xn--bcher-kva xn--caf-dma xn--cmara-3qa xn--corao-dra1a xn--espaa-rta xn--informao-xza3b xn--lngua-zsa xn--msica-7ua xn--notcias-9ya xn--sade-rra xn--unio-ioa".split(
    " ",
  );

/** A suffix of a path name, and its MIME type. */
export interface Extension {
  readonly suffix: string;
  readonly mime: string;
  /** Whether the resource is a program, requested with many queries. */
  readonly takesQueries: boolean;
}

function extension(suffix: string, mime: string, takesQueries: boolean = false): Extension {
  return { suffix, mime, takesQueries };
}

/** A name without a suffix: a page or a directory. */
export const NO_EXTENSION: Extension = extension("", "text/html", true);

/** Extensions with their weights, in percent of pages. */
const EXTENSIONS: readonly (readonly [weight: number, Extension])[] = [
  [30, NO_EXTENSION],
  [18, extension(".html", "text/html")],
  [14, extension(".php", "text/html", true)],
  [8, extension(".jpg", "image/jpeg")],
  [6, extension(".aspx", "text/html", true)],
  [5, extension(".htm", "text/html")],
  [4, extension(".gif", "image/gif")],
  [4, extension(".asp", "text/html", true)],
  [3, extension(".png", "image/png")],
  [3, extension(".pdf", "application/pdf")],
  [2, extension(".jsp", "text/html", true)],
  [1, extension(".xml", "application/xml", true)],
  [1, extension(".css", "text/css")],
  [1, extension(".js", "application/javascript")],
];

/** The share of pages that {@link drawExtension} gives a program's extension. */
export const QUERYABLE_PAGE_SHARE: number =
  EXTENSIONS.reduce((sum, [weight, { takesQueries }]) => sum + (takesQueries ? weight : 0), 0) /
  100;

const EXTENSION_BY_PERCENT: readonly Extension[] = EXTENSIONS.flatMap(([weight, entry]) =>
  Array.from({ length: weight }, () => entry),
);

/** A complete name, at the root of many hosts. */
export const ROBOTS: Extension = extension("robots.txt", "text/plain");
export const FAVICON: Extension = extension("favicon.ico", "image/x-icon");
/** A complete name: single-pixel images from before CSS 3, which are archived disproportionately. */
export const BLANK_IMAGE: Extension = extension("blank.gif", "image/gif");

/** Draws an extension for a page, by weight. */
export function drawExtension(random: Random): Extension {
  return random.pick(EXTENSION_BY_PERCENT);
}

/** A host label: a word or two, sometimes with a hyphen, a number or letters outside ASCII. */
export function hostLabel(random: Random): string {
  const style = random.below(200);
  if (style < 3) return random.pick(IDN_LABELS);
  const word = random.pick(VOCABULARY);
  if (style < 40) return word;
  if (style < 60) return `${word}-${random.pick(VOCABULARY)}`;
  if (style < 150) return word + random.below(1000);
  return word + random.pick(SHORT_WORDS);
}

/** A label that no sample archive has, because it ends in `q`. */
export function strangerLabel(random: Random): string {
  return `${random.pick(VOCABULARY)}${random.pick(VOCABULARY)}q`;
}

/**
 * A path name without its extension. Some extend an earlier sibling (`a`, `a-b`, `a0`,
 * `a%20b`), so that byte order differs from the order of the tree.
 */
export function pathName(random: Random, sibling: string | undefined): string {
  const style = random.below(100);
  if (sibling !== undefined && sibling.length < 9 && style < 14) {
    if (style < 6) return `${sibling}-${random.pick(SHORT_WORDS)}`;
    if (style < 7) return `${sibling}%20${random.pick(SHORT_WORDS)}`;
    return sibling + random.below(100);
  }
  if (style < 40) return String(random.below(style < 30 ? 100 : 10_000));
  const word = random.pick(SHORT_WORDS);
  if (style < 80) return word;
  if (style < 95) return word + random.below(100);
  return word + (style < 98 ? "-" : ".") + random.pick(SHORT_WORDS);
}

/** A path name that no sample archive has, because it contains `_`. */
export function strangerPathName(random: Random): string {
  return `${random.pick(VOCABULARY)}_${random.below(10_000)}`;
}

const QUERY_FORMS =
  "id= p= page= artigo= lang=pt&page= cat=3&id= action=view&id= from=rss&n=".split(" ");

/** Yields distinct query strings in byte order, already canonical: lower case, parameters sorted. */
export function* queries(random: Random, count: number): Generator<string> {
  const form = random.pick(QUERY_FORMS);
  let base = 100;
  while (base * 9 < count * 4) base *= 10;
  const step = Math.floor((base * 9) / count);
  // Numbers of equal width sort alike as text and as numbers.
  for (let i = 0; i < count; i++) yield form + (base + i * step + random.below(step));
}

/** Compares ASCII text in byte order, which equals code unit order. */
export function compareAscii(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
