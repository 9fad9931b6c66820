import { MementoList } from "../memento/memento-list.ts";

const ABSOLUTE = /^https?:\/\//i;

/** As it is, if it is a whole web address; else resolved; undefined when it leads elsewhere. */
export function absolute(uri: string, base: string): string | undefined {
  if (ABSOLUTE.test(uri)) return uri;
  if (!URL.canParse(uri, base)) return undefined;
  const { href } = new URL(uri, base);
  return ABSOLUTE.test(href) ? href : undefined;
}

/** The list with whole addresses of the web: clients are redirected to them. */
export function resolved(mementos: MementoList, base: string): MementoList {
  if (mementos.areWebAddresses) return mementos;
  const list = new MementoList();
  for (const { uri, datetime } of mementos) {
    const whole = absolute(uri, base);
    if (whole !== undefined) list.add(whole, datetime);
  }
  return list;
}
