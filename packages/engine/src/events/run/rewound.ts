import { attribute, beginLife, type Meaning, note, runRecord, spanKeys, stepIsUndone } from '../meaning.ts';

export const runRewound: Meaning<'run.rewound'> = {
  changes(state, { data }, { run, step, task, named, rewinds }) {
    const { turn, steps, open, snapshot, undone, planning, lost_tasks = [] } = data;
    state.set(run.turn, turn);
    state.set(run.turn_steps, steps);
    state.set(run.open, open);
    state.set(run.snapshot, snapshot);
    state.mark(rewinds, run.seq, { text: ' ', ahead: 1 });
    state.set(run.restore, 'due');
    state.clear(run.writer);
    state.clear(run.closing);
    if (planning) state.clear(run.plan_approved);
    for (const id of lost_tasks) {
      state.set(task.status(id), 'lost');
      state.set(task.outcome(id), { status: 'lost', exit_code: null, reason: takenBack });
    }
    state.increase(run.alive, -undone.length);
    if (steps.length > 0) state.listTurn(turn, steps, { ahead: open - steps.length });
    for (const { id, name } of undone) {
      state.overrule(step.status(id), 'undone');
      if (name !== undefined) state.clear(named(name));
    }
  },
  span(trace, { data }) {
    for (const { id } of data.undone) stepIsUndone(trace, id);
    if (!trace.isAlive) beginLife(trace, { attributes: {}, links: [] });
    note(trace, spanKeys.run(trace.life), 'run rewound', { [attribute.undoneSteps]: data.undone.length });
    trace.left = data.open;
    trace.turn = data.turn;
    trace.rewinds += 1;
  },
  audit: {
    learn(facts, { data }) {
      facts.hasEnded = false;
      facts.snapshot = data.snapshot;
    },
    record: runRecord,
  },
};

const takenBack = {
  code: 'ETASKLOST',
  message: 'The command had ended, and an undo took its changes back.',
  next: 'Start it again if it is still needed.',
};
