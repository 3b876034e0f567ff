import { event, prepareFailedSchema, restore, seconds } from '../event.ts';

export const workspacePrepareFailed = event('workspace.prepare_failed', {
  data: { ...prepareFailedSchema.shape, restore },
  line({ data: { number, of, exit_code, duration_ms } }) {
    const how = exit_code === null ? 'was stopped' : `exit code ${exit_code}`;
    return `${number} of ${of}: ${how} after ${seconds(duration_ms)}`;
  },
  tone: 'warning',
});
