import { attribute, endPublish, type Meaning, note, ofPublish, set, spanKeys, textOfValue } from '../meaning.ts';

export const workspaceConflicted: Meaning<'workspace.conflicted'> = {
  changes: (state, { data: { conflicts } }) => state.endPublication('conflicted', { conflicts }),
  span(trace, { data }) {
    const attributes = { [attribute.conflicts]: data.conflicts.length };
    if (!data.parked) return endPublish(trace, 'conflicted', { status: 'error', code: 'conflict', attributes });
    // The same append asks a person, and the publish continues with the person's decision.
    const publish = spanKeys.publish(trace.publishes);
    set(trace, publish, attributes);
    note(trace, publish, 'publish conflicted', attributes);
  },
  audit: {
    record: (facts, event, redact) => ({
      ...ofPublish(facts, event),
      ...{ status: 'conflicted', snapshot: event.data.snapshot, detail: textOfValue(event.data.conflicts, redact) },
    }),
  },
};
