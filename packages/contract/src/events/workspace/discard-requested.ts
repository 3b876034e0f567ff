import { event, publicationStatusSchema, z } from '../event.ts';

export const workspaceDiscardRequested = event('workspace.discard_requested', {
  data: { by: z.string(), from: publicationStatusSchema },
  line: ({ data }) => `by ${data.by}`,
});
