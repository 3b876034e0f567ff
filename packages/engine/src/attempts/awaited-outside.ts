import type { AwaitedOutside, ToolOutcome } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { NewWait, OutsideState, StepState } from '../domain/index.ts';

type WaitsOutside = Extract<ToolOutcome, { on: { outside: string } }>;

/** Whether the server gives the result of the call later. */
export const waitsOutside = (made: ToolOutcome): made is WaitsOutside =>
  made.status === 'deferred' && 'outside' in made.on;

/** The text is on disk before the event that names it. */
export async function toWait(
  { blobs }: Pick<WorkerDeps, 'blobs'>,
  { until, on: { outside } }: WaitsOutside,
): Promise<Pick<NewWait, 'until' | 'outside'>> {
  const bytes = Buffer.from(outside);
  return { until, outside: { sha256: await blobs.put(bytes), bytes: bytes.length } };
}

/** What the other side of the call gets back. @param over the call has ended */
export async function awaitedBy(
  { blobs }: Pick<WorkerDeps, 'blobs'>,
  { deferred }: StepState,
  over: OutsideState | undefined,
): Promise<AwaitedOutside | undefined> {
  const outside = over ?? deferred?.outside;
  if (outside === undefined) return undefined;
  const text = (await blobs.get(outside.sha256)).toString('utf8');
  return { outside: text, over: over === undefined ? undefined : true };
}

/** The task that an earlier attempt of the call waits for. */
export function taskAwaited({ deferred }: StepState): { task_id: string; until: number } | undefined {
  if (deferred?.task_id === undefined) return undefined;
  return { task_id: deferred.task_id, until: Date.parse(deferred.until) };
}
