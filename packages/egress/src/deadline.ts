import { EgressError } from './errors.ts';

/** Aborts with ETIMEOUT unless the caller disposes of it first. */
export function deadline(ms: number, message: string): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const error = () => new EgressError('ETIMEOUT', message, { next: 'Try again later, or allow more time.' });
  const timer = setTimeout(() => controller.abort(error()), ms);
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
