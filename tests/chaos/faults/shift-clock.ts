import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Preloaded into a worker or an API: shifts its `Date`, and the time in its UUIDs, by the milliseconds in the file CHAOS_CLOCK. Timers and `performance.now` do not change, as when
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

const uuid = crypto.randomUUIDv7;
crypto.randomUUIDv7 = (...options) => {
  const time = now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${uuid(...options).slice(13)}` as ReturnType<typeof uuid>;
};
syncBuiltinESMExports();
