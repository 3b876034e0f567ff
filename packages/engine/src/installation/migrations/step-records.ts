import type { Migration } from './migration.ts';
import { refold } from './refold.ts';

export const stepRecords: Migration = {
  from: 1,
  to: 2,
  title: 'the steps of each run get an index, and a settled step becomes one field of the state',
  run: refold,
};
