import { attribute, endPrepare, type Meaning, noAudit, open, spanKeys, spanName } from '../meaning.ts';

export const workspacePreparing: Meaning<'workspace.preparing'> = {
  changes(state, { data }, { run, heads }) {
    state.set(run.preparing, heads.prepare(data.number));
    state.set(run.head, heads.prepare(data.number));
  },
  span(trace, { seq, data: { number, worker } }) {
    endPrepare(trace, { code: 'lost' });
    const attributes = {
      [attribute.workspaceAction]: 'prepare',
      [attribute.worker]: worker,
      [attribute.files]: number,
    };
    open(trace, spanKeys.at('prepare', seq), { kind: 'workspace', name: spanName.workspace('prepare'), attributes });
  },
  audit: noAudit,
};
