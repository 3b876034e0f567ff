import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { directoryId } from './directory.ts';

/** The file of a data directory with the id of its installation. */
export const installationFile = (dataDir: string): string => join(dataDir, 'installation');

/** The recorded place of a data directory: `home` in the file `installation`. */
export const homeOf = (dataDir: string): string => realpathSync(dataDir);

/**
 * Finds the original of a copied data directory. A copy keeps the id of the installation and the recorded place of the original, and
 * the original is still there. A moved directory, or a restored directory without an original, is no copy. The function reads both directories now, so device numbers of an earlier boot do not matter.
 *
 * @returns the path of the original
 */
export function originalOf(dataDir: string): string | undefined {
  const { id, home } = readInstallation(dataDir);
  if (id === undefined || home === undefined || isSame(dataDir, home)) return undefined;
  return readInstallation(home).id === id ? home : undefined;
}

/** Whether the directory lies where its record says. */
export const isAtHome = (dataDir: string, home: string | undefined): boolean =>
  home !== undefined && isSame(dataDir, home);

/** Message and next step for programs that refuse a copy. */
export const copyTexts = (dataDir: string, original: string): { message: string; next: string } => ({
  message: `The data directory ${dataDir} is a copy of ${original}: both have the id of one installation.`,
  next: `To keep both, stop the system of this copy and give it an id of its own: \`holdpoint adopt --copy\`. If the data has moved, remove or rename ${original}.`,
});

function isSame(one: string, other: string): boolean {
  const id = directoryId(one);
  return id !== undefined && id === directoryId(other);
}

/** The id and the place in the file of a data directory. Blank or damaged text yields neither: other checks refuse such a file. */
export function readInstallation(dataDir: string): { id?: string; home?: string } {
  try {
    const read: unknown = JSON.parse(readFileSync(installationFile(dataDir), 'utf8'));
    if (typeof read !== 'object' || read === null) return {};
    return { ...stringAt(read, 'id'), ...stringAt(read, 'home') };
  } catch {
    return {};
  }
}

function stringAt(read: object, name: 'id' | 'home'): { id?: string; home?: string } {
  const value: unknown = Reflect.get(read, name);
  return typeof value === 'string' ? { [name]: value } : {};
}
