import { constants, copyFileSync, existsSync, linkSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncPath } from '@holdpoint/process/durable-files';
import { errnoOf } from '../errors.ts';

/** Links an unchanging file, or copies the file where links are impossible. The caller fsyncs the folder. */
export async function linkFile(source: string, target: string): Promise<void> {
  if (existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  try {
    linkSync(source, target);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(errno)) throw error;
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
    await syncPath(target);
  }
}
