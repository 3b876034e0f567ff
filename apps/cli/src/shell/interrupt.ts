import { exitCodes } from './errors.ts';

/** The user pressed Ctrl-C, or another process sent a signal to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted (${signal})`);
    this.signal = signal;
  }
}

/** `npm run` forwards the terminal's Ctrl-C, so a single press arrives twice, milliseconds apart. */
const samePressMs = 500;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `first` at the first signal and `again` at a later signal. When a terminal closes, the shell, npm and the kernel each send SIGHUP,
 * seconds apart, so a second SIGHUP does not count.
 *
 * @returns a function that restores the default behaviour
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

/** Aborted with `Interrupted` at the first signal. The second signal ends the process. */
export function interruptSignal(): AbortSignal & Disposable {
  const controller = new AbortController();
  const stop = onInterrupt(
    (signal) => controller.abort(new Interrupted(signal)),
    () => process.exit(exitCodes.interrupted),
  );
  return Object.assign(controller.signal, { [Symbol.dispose]: stop });
}
