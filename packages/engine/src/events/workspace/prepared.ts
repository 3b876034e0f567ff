import { attribute, endPrepare, type Meaning, madeSnapshot, noAudit } from '../meaning.ts';

export const workspacePrepared: Meaning<'workspace.prepared'> = {
  changes(state, { data: { number, of, snapshot } }, { run }) {
    state.set(run.prepared, number);
    state.clear(run.preparing);
    if (number < of) return;
    // The change set counts from here, so files made by the commands are not part of the change set.
    state.set(run.base, snapshot);
    state.set(run.prepare, 'done');
  },
  span: (trace, { data: { snapshot, files_changed, cached } }) =>
    endPrepare(trace, {
      status: 'ok',
      attributes: {
        [attribute.snapshot]: snapshot,
        [attribute.filesChanged]: files_changed,
        [attribute.workspaceReason]: cached && 'cached',
      },
    }),
  audit: noAudit,
  snapshot: ({ data }) => madeSnapshot(data, null),
};
