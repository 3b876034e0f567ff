import { endPublish, type Meaning, ofPublish, textOfValue } from '../meaning.ts';

export const workspacePublished: Meaning<'workspace.published'> = {
  changes: (state, { data: { published } }) => state.endPublication('published', { published }),
  span: (trace) => endPublish(trace, 'published', { status: 'ok' }),
  audit: {
    record: (facts, event, redact) => ({
      ...ofPublish(facts, event),
      ...{ status: 'published', snapshot: event.data.snapshot, detail: textOfValue(event.data.published, redact) },
    }),
  },
};
