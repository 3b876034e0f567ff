import { epoch, event, z } from '../event.ts';

export const workspaceLeased = event('workspace.leased', {
  data: { epoch, worker: z.string() },
  line: ({ data }) => `tree ${data.epoch}, by ${data.worker}`,
  isQuiet: true,
});
