import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './shell.ts';

export interface Temporary {
  root: string;
  /** Data directory of the system. */
  data: string;
  /** A git repository with one commit. */
  pagelist: string;
  /** A plain directory. */
  cuelines: string;
  remove(): Promise<void>;
}

/** Copies the example repositories to a new temporary directory, one of them as a git repository. */
export async function createTemporary(examples: string, signal: AbortSignal): Promise<Temporary> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'holdpoint-demo-')));
  const place = { root, data: join(root, 'data'), pagelist: join(root, 'pagelist'), cuelines: join(root, 'cuelines') };
  await mkdir(place.data, { mode: 0o700 });
  for (const name of ['pagelist', 'cuelines'] as const) {
    await cp(join(examples, 'repos', name), place[name], {
      recursive: true,
      filter: (path) => !path.endsWith('__pycache__'),
    });
  }
  await run(place.pagelist, ['git', 'init', '-q', '-b', 'main'], signal);
  await run(place.pagelist, ['git', 'add', '.'], signal);
  const author = ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.invalid'];
  await run(place.pagelist, ['git', ...author, 'commit', '-q', '-m', 'pagelist 1.3.0'], signal);
  return { ...place, remove: () => rm(root, { recursive: true, force: true }) };
}

/** A hash of every file in a directory, by path. */
export async function digestsOf(directory: string): Promise<Map<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const digests = await Promise.all(
    files.map(async (file) =>
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ),
  );
  return new Map(files.map((file, i) => [file.slice(directory.length + 1), digests[i] ?? '']));
}

/** Paths with different hashes, or missing on one side. */
export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}
