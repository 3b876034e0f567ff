import type { CapabilityReport } from '@holdpoint/contract';
import { attribute, genAi, general, spanName } from '@holdpoint/contract/names';
import { spanKeys, type TraceState } from './ids.ts';
import { close, open, set } from './spans.ts';

/** Closes the span of an undone step. Only an unsettled step has an open span. */
export const stepIsUndone = (trace: TraceState, stepId: string): void =>
  close(trace, stepId, { attributes: { [attribute.stepOutcome]: 'undone' } });

export function queueStep(trace: TraceState, seq: number, stepId: string): void {
  endWaitsOfStep(trace, stepId);
  const tool = trace.open.get(stepId)?.attributes[genAi.toolName];
  const attributes = { [attribute.waitFor]: 'queue', [attribute.stepId]: stepId, [genAi.toolName]: tool };
  open(trace, spanKeys.at('wait', seq), { kind: 'wait', name: spanName.wait('queue'), parent: stepId, attributes });
}

/** Approval waits are left open: approval events end these. */
export function endWaitsOfStep(trace: TraceState, stepId: string): void {
  for (const [key, { parent, kind, attributes }] of trace.open) {
    if (parent === stepId && kind === 'wait' && attributes[attribute.approvalId] === undefined) close(trace, key);
  }
}

interface AttemptEnd {
  outcome: string;
  code?: string | undefined;
  status?: 'ok' | 'error' | 'unset';
}

export function endAttempt(
  trace: TraceState,
  stepId: string,
  attempt: number,
  { outcome, code, status }: AttemptEnd,
): void {
  close(trace, spanKeys.attempt(stepId, attempt), {
    status: status ?? (code === undefined ? 'unset' : 'error'),
    code,
    attributes: { [attribute.attemptOutcome]: outcome, [general.errorType]: code },
  });
}

/** Records the isolation that the sandbox enforced. */
export function isolated(trace: TraceState, key: string, report: CapabilityReport | undefined): void {
  if (report === undefined) return;
  const { driver, notes: _, ...bounds } = report;
  const attributes: Record<string, string> = { [attribute.isolationDriver]: driver };
  for (const [bound, enforced] of Object.entries(bounds)) attributes[attribute.isolation(bound)] = enforced;
  set(trace, key, attributes);
}
