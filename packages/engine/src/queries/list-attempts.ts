import type { CapabilityReport, EventOf, EventWith, LoggedEvent } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../domain/index.ts';
import { readLog, readStep } from '../log/index.ts';

/** One attempt at a step. */
export interface Attempt {
  number: number;
  worker: string;
  started_at: string;
  ended_at?: string;
  /** Absent while the attempt runs. */
  end?: 'succeeded' | 'failed' | 'killed' | 'timed_out' | 'held' | 'asked' | 'retried' | 'indeterminate';
  reason?: EventOf<'step.retried'>['data']['reason'];
  duration_ms?: number;
  capabilities?: CapabilityReport | undefined;
}

const eventsAtOnce = 200;

/** The attempts of one step, in order. Reads the log from the step's creation to its settling. */
export async function listAttempts(deps: Pick<EngineDeps, 'redis'>, runId: string, stepId: string): Promise<Attempt[]> {
  const attempts = new Map<number, Attempt>();
  const found = await readStep(deps.redis, runId, stepId);
  if (!found) throw new EngineError('step_not_found', `there is no step ${stepId}`);
  const { created_seq = 1, settled_seq = found.run.seq } = found.step;
  for (let after = created_seq - 1; after < settled_seq; ) {
    const events = await readLog(deps.redis, runId, { after, limit: Math.min(eventsAtOnce, settled_seq - after) });
    for (const event of events) if (isOfAttempt(event) && event.step_id === stepId) note(attempts, event);
    if (events.length === 0) break;
    after += events.length;
  }
  return [...attempts.values()];
}

const isOfAttempt = (event: LoggedEvent): event is LoggedEvent & EventWith<'attempt'> => 'attempt' in event.data;

/** The compiler names an event with an attempt that the switch leaves out. */
function note(attempts: Map<number, Attempt>, event: EventWith<'attempt'>): void {
  switch (event.type) {
    case 'step.started': {
      const { attempt, worker } = event.data;
      attempts.set(attempt, { number: attempt, worker, started_at: event.time });
      return;
    }
    case 'step.held': {
      const { attempt, reason } = event.data;
      end(attempts, attempt, { ended_at: event.time, end: 'held', reason: { code: 'EHELD', message: reason } });
      return;
    }
    case 'step.asked':
      end(attempts, event.data.attempt, { ended_at: event.time, end: 'asked' });
      return;
    case 'step.retried':
    case 'step.indeterminate': {
      const { attempt, reason } = event.data;
      end(attempts, attempt, {
        ended_at: event.time,
        end: event.type === 'step.retried' ? 'retried' : 'indeterminate',
        reason,
      });
      return;
    }
    case 'step.succeeded':
    case 'step.failed':
    case 'step.killed':
    case 'step.timed_out': {
      const { attempt, duration_ms, capabilities, error } = event.data;
      if (attempt === null) return;
      const status = event.type.slice('step.'.length) as 'succeeded' | 'failed' | 'killed' | 'timed_out';
      end(attempts, attempt, {
        ended_at: event.time,
        end: status,
        duration_ms,
        capabilities,
        reason: error,
      });
      return;
    }
    // These end no attempt by themselves, or nothing ran.
    case 'step.deferred':
    case 'step.rejected':
    case 'step.expired':
    case 'step.canceled':
    case 'step.model_used':
    case 'network.connected':
    case 'network.counted':
    case 'graph.progress':
    case 'workspace.snapshotted':
      return;
    default:
      event satisfies never;
  }
}

function end(attempts: Map<number, Attempt>, number: number, how: Partial<Attempt>): void {
  const attempt = attempts.get(number);
  // An indeterminate attempt keeps its end. The later decision of a person is in the log.
  if (attempt && attempt.end === undefined) Object.assign(attempt, how);
}
