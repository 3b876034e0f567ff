import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { checkDataDirectory as checkWritable, InstallationError } from '@holdpoint/engine/installation';
import type { Finding } from './finding.ts';

/** The data directory holds every run's files, so other users must have no access. */
export async function checkDataDirectory(dataDir: string): Promise<Finding> {
  const name = 'data directory';
  const found = await stat(dataDir).catch(() => undefined);
  if (found === undefined) return checkMissing(name, dataDir);
  if (!found.isDirectory()) {
    return { name, level: 'fail', text: `${dataDir} is not a directory`, next: 'Set HOLDPOINT_DATA to a directory.' };
  }
  if (found.uid !== process.getuid?.()) {
    const next = 'Run this as its owner, or set HOLDPOINT_DATA to a directory of your own.';
    return { name, level: 'fail', text: `${dataDir} belongs to user ${found.uid}`, next };
  }
  const usable = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!usable) return { name, level: 'fail', text: `${dataDir} is not writable`, next: `chmod 700 ${dataDir}` };
  if ((found.mode & 0o077) !== 0) {
    return {
      name,
      level: 'warn',
      text: `${dataDir} is open to other users (${octal(found.mode)})`,
      next: `chmod 700 ${dataDir}`,
    };
  }
  return { name, level: 'ok', text: dataDir };
}

function checkMissing(name: string, dataDir: string): Finding {
  try {
    checkWritable(dataDir);
    return { name, level: 'ok', text: `${dataDir} (created at the first start)` };
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    return { name, level: 'fail', text: error.message, next: error.next };
  }
}

export async function checkKeyFile(file: string): Promise<Finding> {
  const name = 'API key';
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return { name, level: 'ok', text: `${file} (created at the first start)` };
  if ((found.mode & 0o077) !== 0) {
    return {
      name,
      level: 'fail',
      text: `${file} is readable for other users (${octal(found.mode)})`,
      next: `chmod 600 ${file}`,
    };
  }
  return { name, level: 'ok', text: `${file} (${octal(found.mode)})` };
}

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;
