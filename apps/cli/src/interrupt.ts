import { exitCodes } from './exit-codes.ts';

/** The person pressed Ctrl-C, or the process was told to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted (${signal})`);
    this.signal = signal;
  }
}

/** `npm run` passes the terminal's Ctrl-C on once more, so that one press arrives twice, milliseconds apart. */
const samePressMs = 500;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `first` at the first signal and `again` at a later one. A terminal that is closed sends SIGHUP by way of the shell, of npm and of
 * the kernel, seconds apart: that is never impatience.
 *
 * @returns restores the usual behaviour
 */
export function onInterrupt(first: (signal: NodeJS.Signals) => void, again: () => void): () => void {
  let since: number | undefined;
  const listener = (signal: NodeJS.Signals): void => {
    if (since === undefined) {
      since = performance.now();
      first(signal);
    } else if (signal !== 'SIGHUP' && performance.now() - since > samePressMs) again();
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Aborted with `Interrupted` at the first signal; the next one ends the process on the spot. */
export function interruptSignal(): AbortSignal & Disposable {
  const controller = new AbortController();
  const stop = onInterrupt(
    (signal) => controller.abort(new Interrupted(signal)),
    () => process.exit(exitCodes.interrupted),
  );
  return Object.assign(controller.signal, { [Symbol.dispose]: stop });
}
