import { event } from '../event.ts';

export const runStarted = event('run.started', { data: {}, line: () => '', isQuiet: true });
