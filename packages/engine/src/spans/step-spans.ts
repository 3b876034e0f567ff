import type { CapabilityReport, EventOf } from '@holdpoint/contract';
import { attribute, genAi, genAiOperation, general, linkType, spanName } from '@holdpoint/contract/names';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { contentOf } from './content.ts';
import { linkToRun, spanKeys } from './ids.ts';
import { cutSegment } from './segments.ts';
import { close, link, note, open, set } from './spans.ts';
import type { SpansOf } from './spans-of.ts';
import type { TraceState } from './trace-state.ts';

/** The spans of steps: the call, its waits and its attempts. */
export const stepSpans: SpansOf<EventsOf<'step'>> = {
  'step.created': (trace, { step_id, data }) => {
    const { tool, turn, index, call_id, effect, risk, verdict } = data;
    open(trace, step_id, {
      kind: 'step',
      name: spanName.step(tool),
      attributes: {
        [genAi.operation]: genAiOperation.executeTool,
        [genAi.toolName]: tool,
        [genAi.toolCallId]: call_id,
        [genAi.toolArguments]: contentOf(trace, data.args),
        [attribute.toolset]: trace.toolset,
        [attribute.stepId]: step_id,
        [attribute.stepIndex]: index,
        [attribute.turn]: turn,
        [attribute.effect]: effect,
        [attribute.risk]: risk,
        [attribute.verdict]: verdict?.action,
        [attribute.attempts]: 0,
      },
    });
    trace.steps += 1;
    trace.segmentSteps += 1;
  },
  'step.queued': (trace, { seq, step_id, data }) => {
    if (data.effect !== undefined) set(trace, step_id, { [attribute.effect]: data.effect });
    queue(trace, seq, step_id);
  },
  'step.model_used': () => {},
  'step.started': (trace, { step_id, data: { attempt, worker, epoch } }) => {
    endWaits(trace, step_id);
    const tool = trace.open.get(step_id)?.attributes[genAi.toolName];
    open(trace, spanKeys.attempt(step_id, attempt), {
      kind: 'attempt',
      name: spanName.attempt,
      parent: step_id,
      attributes: {
        [genAi.toolName]: tool,
        [attribute.stepId]: step_id,
        [attribute.attempt]: attempt,
        [attribute.worker]: worker,
        [attribute.epoch]: epoch,
      },
    });
    set(trace, step_id, { [attribute.attempts]: attempt });
  },
  'step.cancel_requested': (trace, { step_id }) => note(trace, step_id, 'cancel requested'),
  'step.held': (trace, { step_id, data }) => endAttempt(trace, step_id, data.attempt, { outcome: 'held' }),
  'step.deferred': (trace, { seq, step_id, data: { attempt, task_id, begins } }) => {
    isolated(trace, spanKeys.attempt(step_id, attempt), begins?.capabilities);
    endAttempt(trace, step_id, attempt, { outcome: 'deferred' });
    open(trace, spanKeys.at('wait', seq), {
      kind: 'wait',
      name: spanName.wait('task'),
      parent: step_id,
      attributes: { [attribute.waitFor]: 'task', [attribute.taskId]: task_id, [attribute.stepId]: step_id },
    });
  },
  'step.retried': (trace, { seq, step_id, data: { attempt, reason } }) => {
    const outcome = reason.code === workerLost ? 'lost' : 'retried';
    endAttempt(trace, step_id, attempt, { outcome, code: reason.code });
    note(trace, step_id, 'step retried', { [attribute.attempt]: attempt, [general.errorType]: reason.code });
    queue(trace, seq, step_id);
  },
  'step.indeterminate': (trace, { step_id, data: { attempt, reason } }) => {
    endWaits(trace, step_id);
    endAttempt(trace, step_id, attempt, { outcome: 'indeterminate', code: reason.code });
    note(trace, step_id, 'step indeterminate', { [attribute.attempt]: attempt, [general.errorType]: reason.code });
  },
  'step.succeeded': settleAs('succeeded'),
  'step.failed': settleAs('failed'),
  'step.killed': settleAs('killed'),
  'step.timed_out': settleAs('timed_out'),
  'step.rejected': settleAs('rejected'),
  'step.expired': settleAs('expired'),
  'step.canceled': settleAs('canceled'),
};

/** The error code of an attempt whose worker is gone (`handle-step.ts`). */
const workerLost = 'EWORKERLOST';

type Outcome = 'succeeded' | 'failed' | 'killed' | 'timed_out' | 'rejected' | 'expired' | 'canceled';
const statusOf = { succeeded: 'ok', failed: 'error', killed: 'error', timed_out: 'error' } as const;
const statusAfter = (outcome: string): 'ok' | 'error' | 'unset' =>
  statusOf[outcome as keyof typeof statusOf] ?? 'unset';

function settleAs(outcome: Outcome) {
  return (trace: TraceState, { step_id, data }: EventOf<`step.${Outcome}`>): void => {
    const { attempt, error, duration_ms, capabilities, command, usage, instead, inherited_from } = data;
    if (attempt !== null) {
      const key = spanKeys.attempt(step_id, attempt);
      isolated(trace, key, capabilities);
      set(trace, key, {
        [attribute.toolMs]: duration_ms,
        [general.exitCode]: command?.exit_code ?? undefined,
        [attribute.commandCpuMs]: command?.cpu_ms,
        [attribute.commandMemoryBytes]: command?.memory_bytes,
        [attribute.commandOutputBytes]: command?.output_bytes,
      });
      endAttempt(trace, step_id, attempt, { outcome, code: error?.code, status: statusAfter(outcome) });
    }
    if (inherited_from !== undefined && trace.origin !== undefined) {
      const { runId, traceId } = trace.origin;
      link(trace, step_id, linkToRun(runId, linkType.forkedFrom, { traceId, key: inherited_from }));
    }
    close(trace, step_id, {
      status: statusAfter(outcome),
      code: error?.code,
      attributes: {
        [attribute.stepOutcome]: outcome,
        [genAi.toolResult]: contentOf(trace, data.value),
        [general.errorType]: error?.code,
        [attribute.instead]: instead,
        [attribute.inheritedFrom]: inherited_from,
        [genAi.inputTokens]: usage?.input_tokens,
        [genAi.outputTokens]: usage?.output_tokens,
        [genAi.cacheReadTokens]: usage?.cached_input_tokens,
        [genAi.reasoningTokens]: usage?.reasoning_tokens,
        [attribute.costMicros]: usage?.cost_micros,
      },
    });
    trace.left -= 1;
    if (trace.left !== 0 || trace.state !== 'running') return;
    cutSegment(trace);
    trace.due = trace.now;
  };
}

/** Closes the span of an undone step. Only an unsettled step has an open span. */
export const stepIsUndone = (trace: TraceState, stepId: string): void =>
  close(trace, stepId, { attributes: { [attribute.stepOutcome]: 'undone' } });

function queue(trace: TraceState, seq: number, stepId: string): void {
  endWaits(trace, stepId);
  const tool = trace.open.get(stepId)?.attributes[genAi.toolName];
  const attributes = { [attribute.waitFor]: 'queue', [attribute.stepId]: stepId, [genAi.toolName]: tool };
  open(trace, spanKeys.at('wait', seq), { kind: 'wait', name: spanName.wait('queue'), parent: stepId, attributes });
}

/** Approval waits are left open: approval events end these. */
function endWaits(trace: TraceState, stepId: string): void {
  for (const [key, { parent, kind, attributes }] of trace.open) {
    if (parent === stepId && kind === 'wait' && attributes[attribute.approvalId] === undefined) close(trace, key);
  }
}

interface AttemptEnd {
  outcome: string;
  code?: string | undefined;
  status?: 'ok' | 'error' | 'unset';
}

function endAttempt(trace: TraceState, stepId: string, attempt: number, { outcome, code, status }: AttemptEnd): void {
  close(trace, spanKeys.attempt(stepId, attempt), {
    status: status ?? (code === undefined ? 'unset' : 'error'),
    code,
    attributes: { [attribute.attemptOutcome]: outcome, [general.errorType]: code },
  });
}

/** Records the isolation that the sandbox enforced. */
function isolated(trace: TraceState, key: string, report: CapabilityReport | undefined): void {
  if (report === undefined) return;
  const { driver, notes: _, ...bounds } = report;
  const attributes: Record<string, string> = { [attribute.isolationDriver]: driver };
  for (const [bound, enforced] of Object.entries(bounds)) attributes[attribute.isolation(bound)] = enforced;
  set(trace, key, attributes);
}
