import { add, attribute, type Meaning, noAudit, spanKeys, spanName, waited } from '../meaning.ts';

export const workspaceMaterialised: Meaning<'workspace.materialised'> = {
  changes(state, { data: { snapshot, base = snapshot, prepare, ...made } }, { run }) {
    state.set(run.base, base);
    state.set(run.lease, 1);
    state.clear(run.head);
    if (prepare) state.set(run.prepare, 'due');
    state.setAbsent(made);
  },
  span(trace, { seq, data }) {
    const { began_at, snapshot, files, bytes } = data;
    const due = trace.open.get(spanKeys.segment(trace.segments))?.start ?? trace.now;
    const began = Math.max(
      due,
      Math.min(began_at === undefined ? (trace.copying ?? due) : Date.parse(began_at), trace.now),
    );
    if (began > due) waited(trace, seq, { from: due, to: began });
    add(
      trace,
      spanKeys.materialise,
      {
        kind: 'workspace',
        name: spanName.workspace('materialise'),
        start: began,
        attributes: {
          [attribute.workspaceAction]: 'materialise',
          [attribute.snapshot]: snapshot,
          [attribute.files]: files,
          [attribute.bytes]: bytes,
        },
      },
      { status: 'ok' },
    );
  },
  audit: noAudit,
  snapshot: ({ data }) => ({ id: data.snapshot, parent: null, by: null, files_changed: data.files }),
};
