import * as meaning from '../meaning.ts';

export const contextCompacted: meaning.Meaning<'context.compacted'> = {
  changes(state, { data: { usage, window } }, { run }) {
    state.clear(run.model_wait);
    state.increase(run.compactions);
    state.set(run.window, window);
    if (usage !== undefined) state.countUsage(usage);
  },
  span(trace, { seq, data }) {
    const { how, began_at, model, usage, answered, failed, tokens_before, tokens_after } = data;
    meaning.note(trace, meaning.spanKeys.run(trace.life), 'context compacted', { how, tokens_before, tokens_after });
    if (how === 'results_cut') return;
    const due = trace.due ?? trace.now;
    const start = Math.max(due, Math.min(began_at === undefined ? due : Date.parse(began_at), trace.now));
    meaning.endWaitForModel(trace, start);
    meaning.add(
      trace,
      meaning.spanKeys.at('compact', seq),
      {
        ...{ kind: 'turn', name: meaning.spanName.chat(meaning.genAiModel(model ?? trace.model).model), start },
        parent: meaning.openTurn(trace, { start }),
        attributes: {
          [meaning.genAi.operation]: meaning.genAiOperation.chat,
          ...meaning.modelAttributes(model ?? trace.model),
          [meaning.genAi.responseModel]: answered?.model,
          [meaning.genAi.responseId]: answered?.id,
          [meaning.genAi.finishReasons]: answered?.finish_reason === undefined ? undefined : [answered.finish_reason],
          [meaning.genAi.inputTokens]: usage?.input_tokens,
          [meaning.genAi.outputTokens]: usage?.output_tokens,
          [meaning.genAi.cacheReadTokens]: usage?.cached_input_tokens,
          [meaning.attribute.costMicros]: usage?.cost_micros,
          [meaning.attribute.compaction]: how,
        },
      },
      failed === undefined ? { status: 'ok' } : { status: 'error', code: failed.code },
    );
    meaning.countInRun(trace, usage);
    // The turn is due again.
    trace.due = trace.now;
  },
  audit: meaning.noAudit,
};
