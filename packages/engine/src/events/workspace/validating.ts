import { attribute, endValidation, type Meaning, noAudit, open, spanKeys, spanName } from '../meaning.ts';

export const workspaceValidating: Meaning<'workspace.validating'> = {
  changes(state, { data }, { run, heads }) {
    state.set(run.validating, data.snapshot);
    state.set(run.head, heads.validators(data.snapshot));
  },
  span(trace, { seq, data }) {
    endValidation(trace, { code: 'lost' });
    open(trace, spanKeys.at('validate', seq), {
      kind: 'publish',
      name: spanName.validate,
      parent: spanKeys.publish(trace.publishes),
      attributes: { [attribute.snapshot]: data.snapshot },
    });
  },
  audit: noAudit,
};
