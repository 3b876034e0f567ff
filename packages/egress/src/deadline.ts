import { EgressError } from './errors.ts';

/** Aborts with ETIMEOUT unless it is disposed of first. */
export function deadline(ms: number, message: string): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new EgressError('ETIMEOUT', message, { next: 'Try again later, or allow more time.' })),
    ms,
  );
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
