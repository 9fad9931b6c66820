import type { ComponentType } from "preact";
import type { ViewName } from "../src/page/page-data.ts";

/** Props of every view: the parameters of the address. */
export interface ViewProps {
  readonly params: URLSearchParams;
}

export type View = ComponentType<ViewProps>;

/** The script of a view. */
export interface ViewModule {
  readonly default: View;
  /** The paths of the JSON that it needs initially. */
  readonly needs?: (params: URLSearchParams) => readonly string[];
}

/** Each view is a separate script, loaded when it is first shown. */
const LOADERS: Readonly<Record<ViewName, () => Promise<ViewModule>>> = {
  search: () => import("./views/search.tsx"),
  explore: () => import("./views/explore.tsx"),
  compare: () => import("./views/compare.tsx"),
  about: () => import("./views/about.tsx"),
};

export async function loadView(name: ViewName): Promise<View> {
  return (await LOADERS[name]()).default;
}
