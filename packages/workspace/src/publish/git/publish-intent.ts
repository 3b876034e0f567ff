import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, syncPath, writeDurably } from '../../files/index.ts';
import type { RunFolder } from '../../run-folder/index.ts';

const oid = z.string().regex(/^[0-9a-f]{40}$/);
const intentSchema = z.strictObject({
  snapshot: oid,
  commit: oid,
  /** Candidate and digest of the plan: a call after a crash returns the validated and approved plan. */
  candidate: oid,
  digest: z.string(),
  /** Whether the commit includes files ignored by the source. */
  include_ignored: z.boolean(),
  /** The pull request under the digest. */
  pull_request: z.string().optional(),
});
const intentsSchema = z.strictObject({ format: z.literal(1), branches: z.record(z.string(), intentSchema) });

/**
 * The commit to which a branch is about to move. The intent is written before the branch moves. A later call checks whether the branch
 * contains the commit: the check also works after the user has committed on top.
 */
export type Intent = z.infer<typeof intentSchema>;

export function readIntent(folder: RunFolder, branch: string): Intent | undefined {
  return read(folder)[branch];
}

/** Creates the folder of a run with a publish, before anything reaches the source. */
export async function preparePublish(folder: RunFolder): Promise<void> {
  mkdirSync(folder.publish, { recursive: true, mode: 0o700 });
  await syncPath(folder.path);
}

export async function writeIntent(folder: RunFolder, branch: string, intent: Intent): Promise<void> {
  const branches = { ...read(folder), [branch]: intent };
  await writeDurably(fileOf(folder), JSON.stringify({ format: 1, branches }));
}

const fileOf = (folder: RunFolder): string => join(folder.publish, 'branches.json');

function read(folder: RunFolder): Record<string, Intent> {
  return readJson(fileOf(folder), intentsSchema)?.branches ?? {};
}
