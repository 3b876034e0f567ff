import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { identify, pidScope } from '@holdpoint/process';

/** The folder of half-built run folders. A process renames its run folder into `runs/`. Each name contains the run and the process. */
export const makingFolder = (dataDir: string): string => join(dataDir, 'making');

/** A path for a folder of this process. `removeAbandonedBuilds` removes the folder after the death of the process. */
export const temporaryPath = ({ dataDir }: { dataDir: string }, runId: string): string =>
  join(makingFolder(dataDir), `${runId}.${owner(process.pid)}-${randomBytes(6).toString('hex')}`);

/** Identifies a process of this host, running or ended. */
const owner = (pid: number): string =>
  `${createHash('sha256').update(pidScope()).digest('hex').slice(0, 8)}-${pid}-${identify(pid)?.start ?? ''}`;

export function belongsToDeadProcess(name: string): boolean {
  const [host = '', pid = '', start = ''] = name.slice(name.lastIndexOf('.') + 1).split('-');
  const now = owner(Number(pid));
  return now.startsWith(`${host}-`) && now !== `${host}-${pid}-${start}`;
}
