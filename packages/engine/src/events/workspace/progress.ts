import { type Meaning, noAudit, noChange } from '../meaning.ts';

export const workspaceProgress: Meaning<'workspace.progress'> = {
  changes: noChange,
  span(trace) {
    trace.copying ??= trace.now;
  },
  audit: noAudit,
};
