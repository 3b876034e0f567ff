import { attribute, endTakeOver, type Meaning, noAudit, open, spanKeys, spanName } from '../meaning.ts';

export const workspaceLeased: Meaning<'workspace.leased'> = {
  changes(state, { data }, { run }) {
    state.set(run.lease, data.epoch);
    state.clear(run.head);
    state.set(run.uncaptured, 0);
    state.clear(run.merging);
  },
  span(trace, { data: { epoch, worker } }) {
    // Another worker takes the tree: the previous worker did not finish its take-over.
    endTakeOver(trace, { status: 'error', code: 'lost' });
    const publish = spanKeys.publish(trace.publishes);
    const parent = trace.open.has(publish) ? publish : undefined;
    // The tree of an ended run is about to be deleted.
    if (!trace.isAlive && parent === undefined) return;
    open(trace, spanKeys.takeOver(epoch), {
      kind: 'workspace',
      name: spanName.workspace('take_over'),
      parent,
      attributes: {
        [attribute.workspaceAction]: 'take_over',
        [attribute.epoch]: epoch,
        [attribute.worker]: worker,
      },
    });
  },
  audit: noAudit,
};
