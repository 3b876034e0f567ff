import { setTimeout as pause } from 'node:timers/promises';

const pollMs = 20;

/** Polls until a condition holds that no event announces. @throws after `withinMs`, with `what` in the message */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 20_000 }: { withinMs?: number } = {},
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(pollMs);
  }
}
