import { approvalHistory } from './approval-history.ts';
import type { Migration } from './migration.ts';
import { runIndexes } from './run-indexes.ts';
import { runLists } from './run-lists.ts';
import { stepRecords } from './step-records.ts';

/** In order and without a gap. Data without a number is older than format 1 and has no migration. */
export const migrations: readonly Migration[] = [stepRecords, runLists, runIndexes, approvalHistory];

const firstFormat = 1;

/** The format read and written by this version. */
export const dataFormat = migrations.at(-1)?.to ?? firstFormat;
