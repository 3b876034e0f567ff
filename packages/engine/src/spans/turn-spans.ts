import { attribute, genAi, genAiOperation, spanName } from '@holdpoint/contract/names';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { messageOf } from './content.ts';
import { spanKeys } from './ids.ts';
import { endWaitForModel, modelName, providerOf } from './model-spans.ts';
import { add, close, note, open } from './spans.ts';
import { noSpan, type SpansOf } from './spans-of.ts';
import type { TraceState } from './trace-state.ts';

/** The spans of turns and summaries, and of the answered messages and calls. */
export const turnSpans: SpansOf<EventsOf<'turn' | 'calls' | 'message' | 'context'>> = {
  'turn.planned': (trace, { seq, data }) => {
    const { turn, steps, usage, refused, asked_at, answered, messages_read } = data;
    const due = trace.due ?? trace.now;
    // A fork records a partly kept turn before its start: no planner was asked.
    const byModel = trace.planner === 'model' && trace.state !== 'queued';
    // A plan answers at once, so the time before its turn was a wait for a worker.
    const unknown = byModel ? due : trace.now;
    const asked = Math.max(due, Math.min(asked_at === undefined ? unknown : Date.parse(asked_at), trace.now));
    const numbered = { [attribute.turn]: turn };
    const isRetried = endWaitForModel(trace, asked);
    if (asked > due && !isRetried) waited(trace, seq, { from: due, to: asked, attributes: numbered });
    add(
      trace,
      spanKeys.turn(turn, trace.rewinds),
      {
        kind: 'turn',
        name: byModel ? spanName.chat(modelName(trace.model)) : spanName.plan,
        start: asked,
        attributes: {
          [genAi.operation]: byModel ? genAiOperation.chat : genAiOperation.plan,
          ...(byModel && { [genAi.provider]: answered?.provider ?? providerOf(trace.model) }),
          ...(byModel && { [genAi.requestModel]: modelName(trace.model) }),
          [genAi.outputMessages]: messageOf(trace, 'assistant', data.message),
          [genAi.responseModel]: answered?.model,
          [genAi.responseId]: answered?.id,
          [genAi.finishReasons]: answered?.finish_reason === undefined ? undefined : [answered.finish_reason],
          [genAi.inputTokens]: usage?.input_tokens,
          [genAi.outputTokens]: usage?.output_tokens,
          [genAi.cacheReadTokens]: usage?.cached_input_tokens,
          [genAi.reasoningTokens]: usage?.reasoning_tokens,
          [attribute.costMicros]: usage?.cost_micros,
          ...numbered,
          [attribute.turnCalls]: steps.length,
          [attribute.turnRefusedCalls]: refused?.calls,
        },
      },
      { status: 'ok' },
    );
    trace.turns += 1;
    trace.left = steps.length;
    trace.due = steps.length === 0 && trace.state === 'running' ? trace.now : undefined;
    for (const [number, id] of trace.messages) {
      if (number > (messages_read ?? 0)) break;
      close(trace, id, { attributes: numbered });
      trace.messages.delete(number);
    }
  },
  'context.instructed': noSpan,
  'context.compacted': (trace, { seq, data }) => {
    const { how, began_at, model, usage, answered, failed, tokens_before, tokens_after } = data;
    note(trace, spanKeys.run(trace.life), 'context compacted', { how, tokens_before, tokens_after });
    if (how === 'results_cut') return;
    const due = trace.due ?? trace.now;
    const start = Math.max(due, Math.min(began_at === undefined ? due : Date.parse(began_at), trace.now));
    endWaitForModel(trace, start);
    add(
      trace,
      spanKeys.at('compact', seq),
      {
        ...{ kind: 'turn', name: spanName.chat(modelName(model ?? trace.model)), start },
        attributes: {
          [genAi.operation]: genAiOperation.chat,
          [genAi.provider]: answered?.provider ?? providerOf(model ?? trace.model),
          [genAi.requestModel]: modelName(model ?? trace.model),
          [genAi.responseModel]: answered?.model,
          [genAi.responseId]: answered?.id,
          [genAi.finishReasons]: answered?.finish_reason === undefined ? undefined : [answered.finish_reason],
          [genAi.inputTokens]: usage?.input_tokens,
          [genAi.outputTokens]: usage?.output_tokens,
          [attribute.costMicros]: usage?.cost_micros,
        },
      },
      failed === undefined ? { status: 'ok' } : { status: 'error', code: failed.code },
    );
    // The turn is due again.
    trace.due = trace.now;
  },
  'calls.received': (trace) => note(trace, spanKeys.run(trace.life), 'calls received'),
  'message.received': (trace, { data }) => {
    trace.received += 1;
    note(trace, spanKeys.run(trace.life), 'message received');
    // A plan reads no messages.
    if (trace.planner !== 'model' || !trace.isAlive) return;
    trace.messages.set(trace.received, data.message_id);
    open(trace, data.message_id, {
      kind: 'wait',
      name: spanName.wait('message'),
      attributes: { [attribute.waitFor]: 'message' },
    });
  },
};

/** Adds a wait for a worker that ended before now. */
export function waited(
  trace: TraceState,
  seq: number,
  { from, to, parent, attributes }: { from: number; to: number; parent?: string; attributes?: Record<string, number> },
): void {
  const { now } = trace;
  trace.now = to;
  const all = { [attribute.waitFor]: 'queue', ...attributes };
  const span = { kind: 'wait' as const, name: spanName.wait('queue'), start: from, parent, attributes: all };
  add(trace, spanKeys.at('wait', seq), span);
  trace.now = now;
}
