import * as meaning from '../meaning.ts';

export const turnPlanned: meaning.Meaning<'turn.planned'> = {
  changes(state, { data: { turn, steps, usage, repetition, messages_read, received } }, { run }) {
    state.set(run.turn, turn);
    state.set(run.turn_steps, steps);
    state.raise(run.last_turn, turn);
    if (steps.length > 0) state.listTurn(turn, steps);
    state.set(run.open, steps.length);
    state.set(run.repetition, repetition);
    state.set(run.messages_read, messages_read);
    state.set(run.taken, received);
    state.clear(run.model_wait);
    if (usage === undefined) return;
    state.countUsage(usage);
    state.set(run.context_tokens, usage.input_tokens);
  },
  span(trace, { seq, data }) {
    const { turn, steps, usage, refused, asked_at, answered, messages_read } = data;
    const due = trace.due ?? trace.now;
    // A fork records a partly kept turn before its start: no planner was asked.
    const byModel = trace.planner === 'model' && trace.state !== 'queued';
    // A plan answers at once, so the time before its turn was a wait for a worker.
    const unknown = byModel ? due : trace.now;
    const asked = Math.max(due, Math.min(asked_at === undefined ? unknown : Date.parse(asked_at), trace.now));
    // A fallback may have answered.
    const model = answered?.asked ?? trace.model;
    const numbered = { [meaning.attribute.turn]: turn };
    const isRetried = meaning.endWaitForModel(trace, asked);
    if (asked > due && !isRetried) meaning.waited(trace, seq, { from: due, to: asked, attributes: numbered });
    meaning.add(
      trace,
      meaning.spanKeys.turn(turn, trace.rewinds),
      {
        kind: 'turn',
        name: byModel ? meaning.spanName.chat(meaning.genAiModel(model).model) : meaning.spanName.plan,
        start: asked,
        parent: meaning.openTurn(trace, { number: turn, start: asked }),
        attributes: {
          [meaning.genAi.operation]: byModel ? meaning.genAiOperation.chat : meaning.genAiOperation.plan,
          ...(byModel && meaning.modelAttributes(model)),
          [meaning.genAi.outputMessages]: meaning.messageOf(trace, 'assistant', data.message),
          [meaning.genAi.responseModel]: answered?.model,
          [meaning.genAi.responseId]: answered?.id,
          [meaning.genAi.finishReasons]: answered?.finish_reason === undefined ? undefined : [answered.finish_reason],
          [meaning.genAi.inputTokens]: usage?.input_tokens,
          [meaning.genAi.outputTokens]: usage?.output_tokens,
          [meaning.genAi.cacheReadTokens]: usage?.cached_input_tokens,
          [meaning.genAi.reasoningTokens]: usage?.reasoning_tokens,
          [meaning.attribute.costMicros]: usage?.cost_micros,
          ...numbered,
          [meaning.attribute.turnCalls]: steps.length,
          [meaning.attribute.turnRefusedCalls]: refused?.calls,
        },
      },
      { status: 'ok' },
    );
    if (byModel) meaning.countInRun(trace, usage);
    trace.turns += 1;
    trace.turn = turn;
    trace.left = steps.length;
    if (trace.left === 0) meaning.closeTurn(trace);
    trace.due = steps.length === 0 && trace.state === 'running' ? trace.now : undefined;
    for (const [number, id] of trace.messages) {
      if (number > (messages_read ?? 0)) break;
      meaning.close(trace, id, { attributes: numbered });
      trace.messages.delete(number);
    }
  },
  audit: meaning.noAudit,
};
