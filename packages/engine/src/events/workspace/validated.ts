import { attribute, endValidation, type Meaning, noAudit, set, spanKeys } from '../meaning.ts';

export const workspaceValidated: Meaning<'workspace.validated'> = {
  changes(state, { data }, { run }) {
    state.set(run.validated, data);
    state.clear(run.validating);
  },
  span(trace, { data }) {
    const results = 'json' in data.results ? data.results.json : undefined;
    set(trace, spanKeys.publish(trace.publishes), { [attribute.validatorsPassed]: data.passed });
    const attributes = {
      [attribute.validatorsPassed]: data.passed,
      [attribute.validators]: Array.isArray(results) ? results.length : undefined,
    };
    endValidation(trace, { status: data.passed ? 'ok' : 'error', attributes });
  },
  audit: noAudit,
};
