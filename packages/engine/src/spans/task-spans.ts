import { attribute, general, linkType, spanName } from '@holdpoint/contract/names';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { linkToRun, spanKeys } from './ids.ts';
import { close, count, note, open, set } from './spans.ts';
import { noSpan, type SpansOf } from './spans-of.ts';
import type { TraceState } from './trace-state.ts';

/** The spans of background commands and sub-agents, and the connections of calls and commands. */
export const taskSpans: SpansOf<EventsOf<'task' | 'network'>> = {
  'task.created': (trace, { seq, step_id, data: { task_id, kind, child } }) => {
    open(trace, task_id, {
      kind: 'task',
      name: spanName.task(kind),
      attributes: {
        [attribute.taskId]: task_id,
        [attribute.taskKind]: kind,
        [attribute.stepId]: step_id,
        [attribute.childRunId]: child,
      },
      links: child === undefined ? [] : [linkToRun(child, linkType.subAgent)],
    });
    open(trace, spanKeys.at('wait', seq), {
      kind: 'wait',
      name: spanName.wait('queue'),
      parent: task_id,
      attributes: { [attribute.waitFor]: 'queue', [attribute.taskId]: task_id },
    });
  },
  'task.started': (trace, { data: { task_id, worker, epoch } }) => {
    for (const [key, { parent, kind }] of trace.open) if (parent === task_id && kind === 'wait') close(trace, key);
    set(trace, task_id, { [attribute.worker]: worker, [attribute.epoch]: epoch });
    note(trace, task_id, 'task started');
  },
  'task.kill_requested': (trace, { data }) => note(trace, data.task_id, 'kill requested'),
  'task.used': noSpan,
  'task.waiting': (trace, { data }) => note(trace, data.task_id, 'sub-agent waits'),
  'task.resumed': (trace, { data }) => note(trace, data.task_id, 'sub-agent continues'),
  'task.reserved': noSpan,
  'task.exited': (trace, { data: { task_id } }) => {
    const merges = trace.open.get(task_id)?.attributes[attribute.taskKind] === 'agent';
    const action = merges ? 'merge' : 'capture';
    open(trace, spanKeys.capture(task_id), {
      kind: 'workspace',
      name: spanName.workspace(action),
      parent: task_id,
      attributes: { [attribute.workspaceAction]: action, [attribute.taskId]: task_id },
    });
  },
  'task.ended': (trace, { data }) => {
    const { task_id, status, exit_code, reason, merged, command } = data;
    const conflicts = merged !== undefined && 'conflicts' in merged ? merged.total : undefined;
    if (conflicts !== undefined) set(trace, spanKeys.capture(task_id), { [attribute.conflicts]: conflicts });
    const failed = status === 'failed' || status === 'timed_out' || status === 'lost' || status === 'killed';
    close(trace, task_id, {
      status: status === 'completed' ? 'ok' : failed ? 'error' : 'unset',
      code: failed ? reason?.code : undefined,
      attributes: {
        [attribute.taskOutcome]: status,
        [general.exitCode]: exit_code ?? undefined,
        [general.errorType]: reason?.code,
        [attribute.commandCpuMs]: command?.cpu_ms,
        [attribute.commandMemoryBytes]: command?.memory_bytes,
        [attribute.commandOutputBytes]: command?.output_bytes,
      },
    });
  },
  'network.connected': (trace, { step_id, data: { attempt, verdict, bytes_up, bytes_down } }) =>
    connected(trace, step_id, attempt, [{ verdict, connections: 1, bytes_up, bytes_down }]),
  'network.counted': (trace, { step_id, data: { attempt, counts } }) => connected(trace, step_id, attempt, counts),
};

interface Counted {
  verdict: 'allowed' | 'refused' | 'failed';
  connections: number;
  bytes_up: number;
  bytes_down: number;
}

/** The connections of a background command are logged under the step that requested the command. */
function connected(trace: TraceState, stepId: string, attempt: number, counts: readonly Counted[]): void {
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
