import { attribute, genAi, genAiOperation, general, spanName } from '@holdpoint/contract/names';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { spanKeys } from './ids.ts';
import { add, close, open } from './spans.ts';
import type { SpansOf } from './spans-of.ts';
import type { TraceState } from './trace-state.ts';

/** Requests without an answer of the model, and the waits until the model is asked again. */
export const modelSpans: SpansOf<EventsOf<'model'>> = {
  'model.retrying': (trace, { seq, data }) => {
    // No request was sent while the turn waited in line.
    if (data.queued) endWaitForModel(trace, trace.now);
    else requestFailed(trace, seq, data.reason.code, data.model);
    trace.askedAgain = Date.parse(data.until);
    const attributes = { [attribute.waitFor]: 'model' };
    open(trace, spanKeys.at('wait', seq), { kind: 'wait', name: spanName.wait('model'), attributes });
  },
};

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
