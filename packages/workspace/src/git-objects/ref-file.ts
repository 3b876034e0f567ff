import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type StagedFile, stageFile, syncFolder } from '../files/index.ts';

/** Points a ref at an object, in a repository that only this package writes. On disk when it returns. */
export async function writeRef(gitDir: string, ref: string, oid: string): Promise<void> {
  const staged = await stageRef(gitDir, ref, oid);
  await staged.commit();
}

/** Writes a ref under a temporary name while its objects are still being written: waiting for both fsyncs takes as long as for one. */
export async function stageRef(gitDir: string, ref: string, oid: string): Promise<StagedFile> {
  const path = join(gitDir, ref);
  const folder = dirname(path);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    await syncFolder(dirname(folder));
  }
  return stageFile(path, `${oid}\n`, 0o644);
}
