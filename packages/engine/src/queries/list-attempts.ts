import type { CapabilityReport, EventOf, LoggedEvent } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { readWholeLog } from '../log/index.ts';

/** One attempt at a step. */
export interface Attempt {
  number: number;
  worker: string;
  started_at: string;
  ended_at?: string;
  /** Absent while it runs. */
  end?: 'succeeded' | 'failed' | 'killed' | 'timed_out' | 'held' | 'retried' | 'indeterminate';
  reason?: EventOf<'step.retried'>['data']['reason'];
  duration_ms?: number;
  capabilities?: CapabilityReport | undefined;
}

/** The attempts of one step, in order. Reads the run's whole log. */
export async function listAttempts(deps: Pick<EngineDeps, 'redis'>, runId: string, stepId: string): Promise<Attempt[]> {
  const attempts = new Map<number, Attempt>();
  for await (const event of readWholeLog(deps.redis, runId)) {
    if ('step_id' in event && event.step_id === stepId) note(attempts, event);
  }
  return [...attempts.values()];
}

function note(attempts: Map<number, Attempt>, event: LoggedEvent): void {
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
    default:
  }
}

function end(attempts: Map<number, Attempt>, number: number, how: Partial<Attempt>): void {
  const attempt = attempts.get(number);
  // An indeterminate attempt keeps that end; the later decision of a person is in the log.
  if (attempt && attempt.end === undefined) Object.assign(attempt, how);
}
