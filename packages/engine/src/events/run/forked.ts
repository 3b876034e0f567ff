import { attribute, link, linkToRun, linkType, type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const runForked: Meaning<'run.forked'> = {
  changes(state, { data }, { run, fork }) {
    state.set(fork(data.child), data.snapshot);
    state.increase(run.forks);
  },
  span(trace, { data }) {
    const run = spanKeys.run(trace.life);
    note(trace, run, 'run forked', { [attribute.childRunId]: data.child });
    link(trace, run, linkToRun(data.child, linkType.fork));
  },
  audit: noAudit,
};
