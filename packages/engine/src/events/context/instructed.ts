import { type Meaning, noAudit, noSpan } from '../meaning.ts';

export const contextInstructed: Meaning<'context.instructed'> = {
  changes(state, { data: { files, window } }, { run }) {
    if (files.length > 0) state.set(run.instructions, files);
    state.set(run.window, window);
  },
  span: noSpan,
  audit: noAudit,
};
