import type { ComponentType } from "preact";
import type { ViewName } from "../src/page/page-data.ts";

/** What every view gets: the parameters of the address. */
export interface ViewProps {
  readonly params: URLSearchParams;
}

export type View = ComponentType<ViewProps>;

/** The script of a view. */
export interface ViewModule {
  readonly default: View;
  /** The paths whose JSON it begins with. */
  readonly needs?: (params: URLSearchParams) => readonly string[];
}

/** Each view is a script of its own, loaded when it is first shown. */
const LOADERS: Readonly<Record<ViewName, () => Promise<ViewModule>>> = {
  search: () => import("./views/search.tsx"),
  explore: () => import("./views/explore.tsx"),
  compare: () => import("./views/compare.tsx"),
  about: () => import("./views/about.tsx"),
};

export async function loadView(name: ViewName): Promise<View> {
  return (await LOADERS[name]()).default;
}
