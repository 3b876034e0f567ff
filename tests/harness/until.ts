import { setTimeout as pause } from 'node:timers/promises';

const every = 20;

/** Looks until a condition of the outside world holds that nothing announces. @throws after `withinMs`, saying what was awaited. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 20_000 }: { withinMs?: number } = {},
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(every);
  }
}
