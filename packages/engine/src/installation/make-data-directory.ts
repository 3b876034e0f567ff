import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { InstallationError } from './error.ts';

/**
 * Creates the data directory and its missing parents, for this user alone.
 * @throws InstallationError `data_directory_unusable`
 */
export function makeDataDirectory(dataDir: string): void {
  unlessUnusable(dataDir, () => make(dataDir));
}

/**
 * The same without creating anything.
 * @throws InstallationError `data_directory_unusable`
 */
export function checkDataDirectory(dataDir: string): void {
  unlessUnusable(dataDir, (place) => accessSync(place, constants.W_OK | constants.X_OK));
}

function unlessUnusable(dataDir: string, use: (existing: string) => void): void {
  try {
    const place = existing(dataDir);
    const ofKernel = kernelDirectory(place);
    if (ofKernel !== undefined) throw new Error(`${ofKernel} has the kernel's files, and nothing can be stored there`);
    use(place);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The data directory ${dataDir} cannot be used: ${why}.`;
    const next = 'Set HOLDPOINT_DATA to a directory of your own on a local disk.';
    throw new InstallationError('data_directory_unusable', message, next, { cause });
  }
}

/** Not with `recursive`: Node tries for ever where a parent exists and mkdir answers ENOENT, as in /proc. */
function make(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && isDirectory(directory)) return;
    if (code !== 'ENOENT' || exists(path.dirname(directory))) throw error;
    make(path.dirname(directory));
    make(directory);
  }
}

/** The real path of the nearest existing ancestor. */
function existing(directory: string): string {
  try {
    return realpathSync(directory);
  } catch (error) {
    const parent = path.dirname(directory);
    if (codeOf(error) !== 'ENOENT' || parent === directory) throw error;
    return existing(parent);
  }
}

function kernelDirectory(directory: string): string | undefined {
  if (isIn(directory, '/dev/shm')) return undefined;
  return ['/proc', '/sys', '/dev'].find((one) => isIn(directory, one));
}

const isIn = (directory: string, place: string): boolean => directory === place || directory.startsWith(`${place}/`);

const exists = (directory: string): boolean => statSync(directory, { throwIfNoEntry: false }) !== undefined;
const isDirectory = (directory: string): boolean => statSync(directory).isDirectory();

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
