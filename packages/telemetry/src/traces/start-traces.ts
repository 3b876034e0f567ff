import type { TraceSettings } from '../settings/traces.ts';
import type { TraceDeps, Traces } from './traces.ts';

/**
 * Starts the traces of a process. Off, nothing of the SDK is imported: the import takes longer than the rest of an app.
 * @param settings undefined: off
 */
export async function startTraces(deps: TraceDeps, settings: TraceSettings | undefined): Promise<Traces | undefined> {
  if (settings === undefined) return undefined;
  const { openTraces } = await import('./open-traces.ts');
  return openTraces(deps, settings);
}
