import { chmod } from 'node:fs/promises';
import type { Setup } from './case.ts';
import { within } from './source.ts';

/** The modes in a case, deepest paths first: a closed directory hides the paths below. */
function modesOf({ files, dirs }: Pick<Setup, 'files' | 'dirs'>): { path: string; mode: number }[] {
  const given = [
    ...Object.entries(files).map(([path, file]) => ({ path, mode: typeof file === 'string' ? undefined : file.mode })),
    ...dirs.map((dir) => (typeof dir === 'string' ? { path: dir, mode: undefined } : dir)),
  ];
  return given
    .flatMap(({ path, mode }) => (mode === undefined ? [] : [{ path, mode: Number.parseInt(mode, 8) }]))
    .sort((a, b) => b.path.split('/').length - a.path.split('/').length);
}

/** Sets the modes in the run's own copy: files copied from a source are writable for their owner. */
export async function setModes(tree: () => Promise<string>, setup: Pick<Setup, 'files' | 'dirs'>): Promise<void> {
  const modes = modesOf(setup);
  if (modes.length === 0) return;
  const root = await tree();
  for (const { path, mode } of modes) await chmod(within(root, path), mode);
}
