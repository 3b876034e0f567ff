import { attribute, beginCall, contentOf, genAi, genAiOperation, type Meaning, open, spanName } from '../meaning.ts';

export const stepCreated: Meaning<'step.created'> = {
  changes(state, { step_id, time, data: { args, verdict, policies, ...call } }, { run, step, named, toolIndex }) {
    state.set(step.call(step_id), call);
    if (verdict !== undefined || policies !== undefined) state.set(step.judged(step_id), { verdict, policies });
    state.set(step.args(step_id), args);
    state.set(step.effect(step_id), call.effect);
    state.mark(step.created_seq(step_id), run.seq, { ahead: 1 });
    state.set(step.status(step_id), 'pending');
    state.set(step.attempt(step_id), 0);
    state.set(step.created_at(step_id), time);
    state.list(toolIndex(call.tool), call.turn);
    if (call.name !== undefined) state.set(named(call.name), step_id);
    state.increase(run.steps);
    state.increase(run.alive);
  },
  span(trace, { step_id, data }) {
    const { tool, turn, index, call_id, effect, risk, verdict } = data;
    open(trace, step_id, {
      kind: 'step',
      name: spanName.step(tool),
      parent: trace.inTurn,
      attributes: {
        [genAi.operation]: genAiOperation.executeTool,
        [genAi.toolName]: tool,
        [genAi.toolCallId]: call_id,
        [genAi.toolArguments]: contentOf(trace, data.args),
        [attribute.toolset]: trace.toolset,
        [attribute.stepId]: step_id,
        [attribute.stepIndex]: index,
        [attribute.turn]: turn,
        [attribute.effect]: effect,
        [attribute.risk]: risk,
        [attribute.verdict]: verdict?.action,
        [attribute.attempts]: 0,
      },
    });
    trace.steps += 1;
    trace.segmentSteps += 1;
  },
  audit: { learn: beginCall },
};
