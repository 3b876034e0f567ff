import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Setup, SetupFile } from './case.ts';
import { generate, printf } from './generate.ts';

/** Writes the files of a case below its source, and the files outside. Modes and times are set later, in the copy of the run. */
export async function writeSource(
  { source, outside }: { source: string; outside: string },
  setup: Pick<Setup, 'files' | 'dirs' | 'symlinks' | 'outside' | 'generate'>,
): Promise<void> {
  await Promise.all([mkdir(source, { recursive: true }), mkdir(outside, { recursive: true })]);
  for (const dir of setup.dirs)
    await mkdir(within(source, typeof dir === 'string' ? dir : dir.path), { recursive: true });
  for (const [path, file] of Object.entries(setup.files)) await write(within(source, path), contentOf(file));
  for (const [path, file] of Object.entries(setup.outside)) await write(within(outside, path), contentOf(file));
  for (const { dir, count, name, content } of setup.generate) {
    for (let number = 0; number < count; number++) {
      await write(within(source, join(dir, printf(name, number))), content);
    }
  }
  for (const [link, target] of Object.entries(setup.symlinks)) {
    await mkdir(dirname(within(source, link)), { recursive: true });
    await symlink(target, within(source, link));
  }
  for (const [path, { mtime }] of timedFiles(setup)) await utimes(within(source, path), mtime, mtime);
}

const timedFiles = ({ files }: Pick<Setup, 'files'>): [string, { mtime: number }][] =>
  Object.entries(files).flatMap(([path, file]) =>
    typeof file !== 'string' && file.mtime !== undefined ? [[path, { mtime: file.mtime }]] : [],
  );

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

function contentOf(file: SetupFile): string | Buffer {
  if (typeof file === 'string') return file;
  if ('text' in file) return file.text;
  return 'base64' in file ? Buffer.from(file.base64, 'base64') : generate(file.generator);
}

/** @throws where the path leads out of the directory */
export function within(directory: string, path: string): string {
  const full = resolve(directory, path);
  if (full !== directory && !full.startsWith(directory + sep))
    throw new Error(`the path ${path} is not in the workspace`);
  return full;
}
