import type { Migration } from './migration.ts';
import { refold } from './refold.ts';

export const runIndexes: Migration = {
  from: 3,
  to: 4,
  title: 'each run gets indexes of its snapshots, and of its steps by status and tool',
  run: refold,
};
