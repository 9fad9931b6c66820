/** How much CPU time work takes, in milliseconds: unlike the clock, it does not count other programs. */
export async function cpuTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
