import { event, z } from '../event.ts';

export const workspaceProgress = event('workspace.progress', {
  data: { files: z.int(), bytes: z.int() },
  line: ({ data }, { counted }) => `${counted(data.files, 'file')}, ${counted(data.bytes, 'byte')} so far`,
  tone: 'faint',
  isQuiet: true,
});
