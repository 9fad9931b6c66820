import type { TableCell, TableColumn } from "./html-table.ts";
import { decimalNumber, percent, wholeNumber } from "./number-format.ts";

/** A column of numbers. */
export function numbers(name: string, help?: string): TableColumn {
  return { name, isNumber: true, help };
}

/** A column of text. */
export function texts(name: string, help?: string): TableColumn {
  return { name, help };
}

/** A count as a cell. */
export function whole(value: number): TableCell {
  return { value, text: wholeNumber(value) };
}

/** A number with decimals as a cell. */
export function decimal(value: number, decimals: number = 2): TableCell {
  return { value, text: decimalNumber(value, decimals) };
}

/** A share as a cell, in percents. */
export function share(value: number, decimals: number = 2): TableCell {
  return { value, text: percent(value, decimals) };
}
