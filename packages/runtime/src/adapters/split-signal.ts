import { abortReason } from '@holdpoint/engine/worker';

/**
 * How a command ends when the signal of its job is aborted. A cancel or a kill by name asks it to end first. When another worker has the
 * job, or this worker ends, the command is killed at once.
 */
export function splitSignal(signal: AbortSignal): { stop: AbortSignal; signal: AbortSignal } {
  const [gentle, hard] = [new AbortController(), new AbortController()];
  const forward = () => (abortReason(signal) === 'canceled' ? gentle : hard).abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener('abort', forward, { once: true });
  return { stop: gentle.signal, signal: hard.signal };
}
