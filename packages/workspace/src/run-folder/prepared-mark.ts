import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writeDurably } from '../files/index.ts';
import type { SnapshotId } from '../port/workspaces.ts';
import type { RunFolder } from './run-folder.ts';

const markSchema = z.strictObject({ snapshot: z.string().regex(/^[0-9a-f]{40}$/) });
const markOf = ({ path }: RunFolder): string => join(path, 'prepared.json');

/** The snapshot after the commands of `prepare`; undefined while there is none. */
export const preparedSnapshot = (folder: RunFolder): SnapshotId | undefined =>
  readJson(markOf(folder), markSchema)?.snapshot;

export const writeMark = (folder: RunFolder, snapshot: SnapshotId): Promise<void> =>
  writeDurably(markOf(folder), JSON.stringify({ snapshot }));
