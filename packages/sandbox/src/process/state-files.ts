import { mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SandboxError } from '../errors.ts';

/** Directory of a workspace's state files. The directory exists only while there are state files. */
export function workspaceDirectory(stateDir: string, workspaceId: string): string {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(workspaceId)) {
    throw new SandboxError(
      'ECOMMANDINVALID',
      `The workspace id ${JSON.stringify(workspaceId)} is no valid directory name.`,
      {
        retryable: false,
        next: 'Use at most 200 letters, digits, dots, hyphens and underscores.',
      },
    );
  }
  return join(stateDir, workspaceId);
}

/** Writes a file, and creates its directory if missing. Another process may remove the empty directory between the calls. */
export function writeInto(path: string, data: string): void {
  for (let tries = 1; ; tries++) {
    try {
      writeFileSync(path, data, { mode: 0o600 });
      return;
    } catch (error) {
      if (!isMissing(error) || tries === 5) throw error;
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    }
  }
}

export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether the file existed. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Whether the file existed. */
export function renameIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // The directory still has files of others, or is already gone.
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
