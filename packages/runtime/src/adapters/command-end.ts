import type { CommandEnd } from '@holdpoint/contract';
import { abortReason } from '@holdpoint/engine/worker';

/** Why a command over its limits was killed; half a sentence. */
export function quotaText({ quota, limit }: Extract<CommandEnd, { status: 'quota' }>): string {
  if (quota === 'disk') return `it wrote most while the free space of the disk fell towards ${limit} bytes`;
  return `it passed its ${quota} limit of ${limit}`;
}

/**
 * How a command ends when the signal of its job is aborted. A cancel or a kill by name asks the command to end first. When another worker
 * has the job, or this worker ends, the command is killed at once.
 */
export function splitSignal(signal: AbortSignal): { stop: AbortSignal; signal: AbortSignal } {
  const [gentle, hard] = [new AbortController(), new AbortController()];
  const forward = () => (abortReason(signal) === 'canceled' ? gentle : hard).abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener('abort', forward, { once: true });
  return { stop: gentle.signal, signal: hard.signal };
}
