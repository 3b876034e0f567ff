import { z } from 'zod';
import { unknownContentSchema } from '../diff.ts';
import { integerParameter, listOf, pageOf } from './page.ts';
import { pathParameter } from './path.ts';

const time = z.iso.datetime();

/** A state of a run's workspace, to read, compare, restore and fork from. */
export const snapshotSchema = z
  .strictObject({
    id: z.string(),
    parent: z.string().nullable(),
    step: z
      .strictObject({
        id: z.string(),
        number: z.int().nullable().describe('Its number in the list of steps; null: the step was undone'),
        tool: z.string(),
      })
      .nullable()
      .describe('The step that left it'),
    task_id: z
      .string()
      .nullable()
      .describe(
        'The background command whose changes it captured. With neither a step nor a task: the first snapshot (no parent), or changes of background commands that an approved call met',
      ),
    undone: z.boolean().describe('An undo took it back'),
    time,
    files_changed: z
      .int()
      .describe('Compared with its parent; for the first snapshot, its regular files. 0: it is the parent itself'),
    current: z.boolean().describe('Whether the workspace is at this snapshot'),
  })
  .meta({ id: 'Snapshot' });
export type Snapshot = z.infer<typeof snapshotSchema>;

export const snapshotPageSchema = pageOf(snapshotSchema);

/** GET /v1/runs/{id}/snapshots. */
export const listSnapshotsQuerySchema = z.strictObject({
  limit: integerParameter(1, 1000).default(100),
  cursor: integerParameter(1, 999_999_999_999_999).optional().describe('`next_cursor` of the previous page'),
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: oldest first'),
});

const snapshot = z
  .string()
  .min(1)
  .optional()
  .describe(
    'A snapshot of the run, or the number or id of a step: the files that an undo to this step restores. Default: the current snapshot',
  );

/** A file of a snapshot. */
export const fileEntrySchema = z
  .strictObject({
    path: z.string(),
    mode: z.string().describe('git mode: 100644, 100755, or 120000 for a link'),
    oid: z.string().describe('Hex SHA-1 of the content as a git blob'),
    bytes: z.int(),
  })
  .meta({ id: 'FileEntry' });
export type FileEntry = z.infer<typeof fileEntrySchema>;

/** GET /v1/runs/{id}/files. */
export const listFilesQuerySchema = z.strictObject({
  snapshot,
  path: pathParameter.optional().describe('Only this file, or the files of this folder'),
});
export const fileListSchema = listOf(fileEntrySchema).extend({
  unknown: z.array(unknownContentSchema).describe('Entries that no snapshot can hold. They are not in `data`'),
});

/** GET /v1/runs/{id}/files/content: the bytes. */
export const readFileQuerySchema = z.strictObject({ snapshot, path: pathParameter });

/** GET /v1/runs/{id}/archive: files of a snapshot in a single download. */
export const archiveQuerySchema = z.strictObject({
  snapshot,
  only: z.enum(['all', 'changed']).default('all').describe('changed: files that the run added or changed'),
  format: z.enum(['tar.gz', 'zip']).default('tar.gz'),
});
