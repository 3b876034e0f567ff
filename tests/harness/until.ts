import { setTimeout as pause } from 'node:timers/promises';

const pollMs = 20;
/** A look at a busy system takes longer: at most a sixth of the time goes into looking. */
const looksCost = 5;

/** Polls until a condition without an event holds. @throws after `withinMs`, with `what` in the message */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 60_000 }: { withinMs?: number } = {},
): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const from = performance.now();
    if (await holds()) return;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(Math.max(pollMs, (performance.now() - from) * looksCost));
  }
}
