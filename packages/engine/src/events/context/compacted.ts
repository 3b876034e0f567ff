import {
  add,
  attribute,
  countInRun,
  endWaitForModel,
  genAi,
  genAiModel,
  genAiOperation,
  type Meaning,
  modelAttributes,
  noAudit,
  note,
  openTurn,
  spanKeys,
  spanName,
} from '../meaning.ts';

export const contextCompacted: Meaning<'context.compacted'> = {
  changes(state, { data: { usage, window } }, { run }) {
    state.clear(run.model_wait);
    state.increase(run.compactions);
    state.set(run.window, window);
    if (usage !== undefined) state.countUsage(usage);
  },
  span(trace, { seq, data }) {
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
        ...{ kind: 'turn', name: spanName.chat(genAiModel(model ?? trace.model).model), start },
        parent: openTurn(trace, { start }),
        attributes: {
          [genAi.operation]: genAiOperation.chat,
          ...modelAttributes(model ?? trace.model),
          [genAi.responseModel]: answered?.model,
          [genAi.responseId]: answered?.id,
          [genAi.finishReasons]: answered?.finish_reason === undefined ? undefined : [answered.finish_reason],
          [genAi.inputTokens]: usage?.input_tokens,
          [genAi.outputTokens]: usage?.output_tokens,
          [genAi.cacheReadTokens]: usage?.cached_input_tokens,
          [attribute.costMicros]: usage?.cost_micros,
          [attribute.compaction]: how,
        },
      },
      failed === undefined ? { status: 'ok' } : { status: 'error', code: failed.code },
    );
    countInRun(trace, usage);
    // The turn is due again.
    trace.due = trace.now;
  },
  audit: noAudit,
};
