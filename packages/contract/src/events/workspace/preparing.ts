import { event, preparingSchema } from '../event.ts';

export const workspacePreparing = event('workspace.preparing', {
  data: preparingSchema.shape,
  line: ({ data }, { code }) => `${data.number} of ${data.of}: ${code(data.command)}`,
});
