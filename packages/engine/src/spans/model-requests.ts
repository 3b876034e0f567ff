import { genAi, genAiOperation, general, spanName } from '@holdpoint/contract/names';
import { spanKeys } from './ids.ts';
import { add, close } from './spans.ts';
import type { TraceState } from './trace-state.ts';

/** Adds a turn that ended without an answer of the model. A plan asks no model, and a recorded turn had an answer. */
export function requestFailed(trace: TraceState, seq: number, code: string, model = trace.model): void {
  if (trace.planner !== 'model' || trace.due === undefined || trace.due === trace.now) return;
  const { askedAgain = trace.now } = trace;
  const start = endWaitForModel(trace, askedAgain) ? Math.min(askedAgain, trace.now) : trace.due;
  add(
    trace,
    spanKeys.at('request', seq),
    {
      ...{ kind: 'turn', name: spanName.chat(modelName(model)), start },
      attributes: {
        [genAi.operation]: genAiOperation.chat,
        [genAi.provider]: providerOf(model),
        [genAi.requestModel]: modelName(model),
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

/** `openai/gpt-5` is the model gpt-5 of the provider openai. */
export const modelName = (model = ''): string => model.slice(model.indexOf('/') + 1);

export const providerOf = (model = ''): string => {
  const provider = model.slice(0, Math.max(0, model.indexOf('/')));
  return provider === 'google' ? 'gcp.gemini' : provider;
};

/** The run leaves a state in which its model or its caller was waited for. */
export function endWaitsOfRun(trace: TraceState): void {
  endWaitForModel(trace, trace.now);
  for (const [key, { kind, name }] of trace.open) if (kind === 'wait' && name === 'wait calls') close(trace, key);
}
