import type { Run } from '@holdpoint/contract/wire';

export const isOver = (status: Run['status']): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'canceled';
