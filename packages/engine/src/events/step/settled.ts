import type { StepSettled } from '@holdpoint/contract';
import {
  attribute,
  callRecord,
  close,
  closeTurn,
  contentOf,
  cutSegment,
  endAttempt,
  genAi,
  general,
  isolated,
  link,
  linkToRun,
  linkType,
  type Meaning,
  set,
  spanKeys,
} from '../meaning.ts';

type Type = StepSettled['type'];
type Status = Type extends `step.${infer Settled}` ? Settled : never;

/** The seven events by which a step settles differ in the status alone. */
const settledAs = (status: Status, spanStatus: 'ok' | 'error' | 'unset'): Meaning<Type> => ({
  changes(state, { step_id, time, data }, { run, step }) {
    const { value, error, attempt, duration_ms, inherited_from, grants, times, instead, usage, restore, writes, long } =
      data;
    state.set(step.status(step_id), status);
    const origin = { inherited_from, grants, times };
    state.set(step.outcome(step_id), { attempt, value, error, duration_ms, instead, long, ...origin });
    state.set(step.settled_at(step_id), time);
    state.mark(step.settled_seq(step_id), run.seq, { ahead: 1 });
    state.pack(step_id);
    state.increase(run.open, -1);
    if (usage !== undefined) state.countUsage(usage);
    if (writes) state.clear(run.writer);
    if (data.let_go) state.clear(step.deferred(step_id));
    if (restore) state.requireRestore();
  },
  span(trace, { step_id, data }) {
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
      endAttempt(trace, step_id, attempt, { outcome: status, code: error?.code, status: spanStatus });
    }
    if (inherited_from !== undefined && trace.origin !== undefined) {
      const { runId, traceId } = trace.origin;
      link(trace, step_id, linkToRun(runId, linkType.forkedFrom, { traceId, key: inherited_from }));
    }
    close(trace, step_id, {
      status: spanStatus,
      code: error?.code,
      attributes: {
        [attribute.stepOutcome]: status,
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
    if (trace.left === 0) closeTurn(trace);
    if (trace.left !== 0 || trace.state !== 'running') return;
    cutSegment(trace);
    trace.due = trace.now;
  },
  audit: { record: callRecord },
});

export const stepSucceeded = settledAs('succeeded', 'ok');
export const stepFailed = settledAs('failed', 'error');
export const stepKilled = settledAs('killed', 'error');
export const stepTimedOut = settledAs('timed_out', 'error');
export const stepRejected = settledAs('rejected', 'unset');
export const stepExpired = settledAs('expired', 'unset');
export const stepCanceled = settledAs('canceled', 'unset');
