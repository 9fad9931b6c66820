/**
 * The end of a time that is named by its first digits, fourteen digits as a number: `2014` lasts
 * until 20141231235959.
 *
 * To compare with: months have up to 31 days here, which is behind all days they have and before
 * the next month.
 */
export function lastSecondOf(digits: string): number {
  return Number(digits + "99991231235959".slice(digits.length));
}
