import type { ModelUsage } from '@holdpoint/contract';
import { attribute, genAi, genAiModel, genAiOperation, general, spanName } from '@holdpoint/contract/names';
import { spanKeys, type TraceState } from './ids.ts';
import { add, close, count } from './spans.ts';
import { openTurn } from './turns.ts';

/** Adds a turn that ended without an answer of the model. A plan asks no model, and a recorded turn had an answer. */
export function requestFailed(trace: TraceState, seq: number, code: string, model = trace.model): void {
  if (trace.planner !== 'model' || trace.due === undefined || trace.due === trace.now) return;
  const { askedAgain = trace.now } = trace;
  const start = endWaitForModel(trace, askedAgain) ? Math.min(askedAgain, trace.now) : trace.due;
  add(
    trace,
    spanKeys.at('request', seq),
    {
      ...{ kind: 'turn', name: spanName.chat(genAiModel(model).model), start, parent: openTurn(trace, { start }) },
      attributes: {
        [genAi.operation]: genAiOperation.chat,
        ...modelAttributes(model),
        [general.errorType]: code,
      },
    },
    { status: 'error', code },
  );
  trace.due = trace.now;
}

/** @returns whether a wait was open */
export function endWaitForModel(trace: TraceState, at: number): boolean {
  const waits = [...trace.open].filter(([, { kind, name }]) => kind === 'wait' && name === spanName.wait('model'));
  const { now } = trace;
  trace.now = Math.min(at, now);
  for (const [key] of waits) close(trace, key);
  trace.now = now;
  trace.askedAgain = undefined;
  return waits.length > 0;
}

/** Adds the usage of a request to the span of the run, whose sums are over one life. Absent counts add nothing. */
export function countInRun(trace: TraceState, usage: ModelUsage | undefined): void {
  if (usage === undefined) return;
  const counts = {
    [genAi.inputTokens]: usage.input_tokens,
    [genAi.outputTokens]: usage.output_tokens,
    [genAi.cacheReadTokens]: usage.cached_input_tokens,
    [attribute.costMicros]: usage.cost_micros,
  };
  const known = Object.entries(counts).filter((one): one is [string, number] => one[1] !== undefined);
  count(trace, spanKeys.run(trace.life), Object.fromEntries(known));
}

/** @param name `provider/model` */
export function modelAttributes(name: string | undefined) {
  const { provider, model } = genAiModel(name);
  return { [genAi.provider]: provider, [genAi.requestModel]: model };
}

/** The run leaves a state in which its model or its caller was waited for. */
export function endWaitsOfRun(trace: TraceState): void {
  endWaitForModel(trace, trace.now);
  for (const [key, { kind, name }] of trace.open) if (kind === 'wait' && name === 'wait calls') close(trace, key);
}
