import { abortReason } from '@holdpoint/engine/worker';

/**
 * What a job's signal means for a command: when its run is canceled or it is killed by name, it is asked to end first; when somebody else
 * has the job, or this worker ends, it dies at once.
 */
export function splitSignal(signal: AbortSignal): { stop: AbortSignal; signal: AbortSignal } {
  const [gentle, hard] = [new AbortController(), new AbortController()];
  const tell = () => (abortReason(signal) === 'canceled' ? gentle : hard).abort(signal.reason);
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell, { once: true });
  return { stop: gentle.signal, signal: hard.signal };
}
