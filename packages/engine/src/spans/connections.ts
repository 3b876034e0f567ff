import { attribute } from '@holdpoint/contract/names';
import { spanKeys, type TraceState } from './ids.ts';
import { count } from './spans.ts';

interface Counted {
  verdict: 'allowed' | 'refused' | 'failed';
  connections: number;
  bytes_up: number;
  bytes_down: number;
}

/** The connections of a background command are logged under the step that requested the command. */
export function connected(trace: TraceState, stepId: string, attempt: number, counts: readonly Counted[]): void {
  const ofAttempt = spanKeys.attempt(stepId, attempt);
  const key = trace.open.has(ofAttempt) ? ofAttempt : taskOf(trace, stepId);
  if (key === undefined) return;
  for (const { verdict, connections, bytes_up, bytes_down } of counts) {
    count(trace, key, {
      [countOf[verdict]]: connections,
      [attribute.bytesUp]: bytes_up,
      [attribute.bytesDown]: bytes_down,
    });
  }
}

const countOf = {
  allowed: attribute.connections,
  refused: attribute.connectionsRefused,
  failed: attribute.connectionsFailed,
} as const;

function taskOf(trace: TraceState, stepId: string): string | undefined {
  for (const [key, { kind, attributes }] of trace.open) {
    if (kind === 'task' && attributes[attribute.stepId] === stepId) return key;
  }
  return undefined;
}
