import type { StepSettled } from '@holdpoint/contract';
import * as meaning from '../meaning.ts';

type Type = StepSettled['type'];
type Status = Type extends `step.${infer Settled}` ? Settled : never;

/** The seven events by which a step settles differ in the status alone. */
const settledAs = (status: Status, spanStatus: 'ok' | 'error' | 'unset'): meaning.Meaning<Type> => ({
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
      const key = meaning.spanKeys.attempt(step_id, attempt);
      meaning.isolated(trace, key, capabilities);
      meaning.set(trace, key, {
        [meaning.attribute.toolMs]: duration_ms,
        [meaning.general.exitCode]: command?.exit_code ?? undefined,
        [meaning.attribute.commandCpuMs]: command?.cpu_ms,
        [meaning.attribute.commandMemoryBytes]: command?.memory_bytes,
        [meaning.attribute.commandOutputBytes]: command?.output_bytes,
      });
      meaning.endAttempt(trace, step_id, attempt, { outcome: status, code: error?.code, status: spanStatus });
    }
    if (inherited_from !== undefined && trace.origin !== undefined) {
      const { runId, traceId } = trace.origin;
      meaning.link(
        trace,
        step_id,
        meaning.linkToRun(runId, meaning.linkType.forkedFrom, { traceId, key: inherited_from }),
      );
    }
    meaning.close(trace, step_id, {
      status: spanStatus,
      code: error?.code,
      attributes: {
        [meaning.attribute.stepOutcome]: status,
        [meaning.genAi.toolResult]: meaning.contentOf(trace, data.value),
        [meaning.general.errorType]: error?.code,
        [meaning.attribute.instead]: instead,
        [meaning.attribute.inheritedFrom]: inherited_from,
        [meaning.genAi.inputTokens]: usage?.input_tokens,
        [meaning.genAi.outputTokens]: usage?.output_tokens,
        [meaning.genAi.cacheReadTokens]: usage?.cached_input_tokens,
        [meaning.genAi.reasoningTokens]: usage?.reasoning_tokens,
        [meaning.attribute.costMicros]: usage?.cost_micros,
      },
    });
    trace.left -= 1;
    if (trace.left === 0) meaning.closeTurn(trace);
    if (trace.left !== 0 || trace.state !== 'running') return;
    meaning.cutSegment(trace);
    trace.due = trace.now;
  },
  audit: { record: meaning.callRecord },
});

export const stepSucceeded = settledAs('succeeded', 'ok');
export const stepFailed = settledAs('failed', 'error');
export const stepKilled = settledAs('killed', 'error');
export const stepTimedOut = settledAs('timed_out', 'error');
export const stepRejected = settledAs('rejected', 'unset');
export const stepExpired = settledAs('expired', 'unset');
export const stepCanceled = settledAs('canceled', 'unset');
