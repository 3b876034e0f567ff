import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Options {
  /** Excludes a path; for a folder, everything inside. Paths are Latin-1. */
  without?: (path: string) => boolean;
  /** Includes times and all permission bits. */
  exactly?: boolean;
}

/** Every file and link below a folder: kind, mode and content. Paths are Latin-1, because they need not be UTF-8. */
export function filesOnDisk(
  folder: string,
  { without = () => false, exactly = false }: Options = {},
): Map<string, string> {
  const found = new Map<string, string>();
  const look = (relative: string): void => {
    const path = Buffer.from(relative === '' ? folder : `${folder}/${relative}`, 'latin1');
    for (const name of readdirSync(path, { encoding: 'buffer' })) {
      const below = relative === '' ? name.toString('latin1') : `${relative}/${name.toString('latin1')}`;
      if (without(below)) continue;
      const full = Buffer.from(`${folder}/${below}`, 'latin1');
      const status = lstatSync(full, { bigint: true });
      if (status.isDirectory()) look(below);
      else found.set(below, describe(full, status, exactly));
    }
  };
  look('');
  return found;
}

function describe(path: Buffer, status: ReturnType<typeof statusOf>, exactly: boolean): string {
  const times = exactly ? ` ${status.mtimeNs}` : '';
  if (status.isSymbolicLink()) return `link ${readlinkSync(path, { encoding: 'latin1' })}${times}`;
  if (!status.isFile()) return 'neither a file nor a link';
  const mode = exactly ? (status.mode & 0o7777n).toString(8) : (status.mode & 0o100n) === 0n ? 'file' : 'executable';
  return `${mode} ${createHash('sha1').update(readFileSync(path)).digest('hex')}${times}`;
}

const statusOf = (path: Buffer) => lstatSync(path, { bigint: true });

export const isGit = (path: string): boolean => path === '.git' || path.startsWith('.git/');

/** The differences of two maps as readable lines; empty when they are equal. Assertion output with thousands of entries is unreadable. */
export function difference(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...found.keys(), ...expected.keys()]);
  return [...paths]
    .filter((path) => found.get(path) !== expected.get(path))
    .sort()
    .map(
      (path) =>
        `${JSON.stringify(path)}: found ${found.get(path) ?? 'nothing'}, expected ${expected.get(path) ?? 'nothing'}`,
    )
    .slice(0, 50);
}
