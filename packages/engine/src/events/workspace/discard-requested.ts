import { attribute, endPublish, type Meaning, open, runRecord, spanKeys, spanName } from '../meaning.ts';

export const workspaceDiscardRequested: Meaning<'workspace.discard_requested'> = {
  changes: (state, _event, { run }) => state.set(run.publication, 'discarding'),
  span(trace, { seq }) {
    endPublish(trace, 'discarded', {});
    const attributes = { [attribute.workspaceAction]: 'discard' };
    open(trace, spanKeys.at('discard', seq), { kind: 'workspace', name: spanName.workspace('discard'), attributes });
  },
  audit: { record: runRecord },
};
