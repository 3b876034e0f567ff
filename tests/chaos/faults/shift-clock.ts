import { readFileSync } from 'node:fs';

/**
 * Preloaded into a worker: shifts its `Date` by the milliseconds in the file CHAOS_CLOCK. Timers and `performance.now` do not change, as when
 * a system clock is set.
 */
const RealDate = Date;
let offset = 0;
const readOffset = (): void => {
  try {
    offset = Number(readFileSync(process.env.CHAOS_CLOCK ?? '', 'utf8'));
  } catch {
    offset = 0;
  }
};
readOffset();
setInterval(readOffset, 50).unref();

const now = (): number => RealDate.now() + offset;
globalThis.Date = new Proxy(RealDate, {
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name, target)),
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
});
