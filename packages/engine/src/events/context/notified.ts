import { type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const contextNotified: Meaning<'context.notified'> = {
  changes(state, _event, { run }) {
    state.increase(run.notified);
  },
  span(trace, { data }) {
    note(trace, spanKeys.run(trace.life), 'model notified', { kinds: data.notices.map(({ kind }) => kind).join(' ') });
  },
  audit: noAudit,
};
