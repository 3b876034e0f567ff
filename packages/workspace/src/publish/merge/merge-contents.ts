import type { Deps, ObjectWriter } from '../../deps.ts';
import type { Leaf } from '../../store/objects/index.ts';
import type { MergeDriver } from './merge-drivers.ts';
import { mergeFile, withVersions } from './merge-file.ts';
import type { BothChanged } from './merge-folders.ts';

/** Number of git processes at once. */
const mostProcesses = 4;

/**
 * Merges file contents with `git merge-file`.
 * @returns the merged files; a missing file is in conflict
 */
export async function mergeContents(
  deps: Pick<Deps, 'git'>,
  input: {
    gitDir: string;
    writer: ObjectWriter;
    files: readonly BothChanged[];
    /** By path. @default text */
    drivers: ReadonlyMap<string, MergeDriver>;
  },
): Promise<Map<BothChanged, Leaf>> {
  const files = input.files.filter(({ path }) => driverAt(input, path).kind !== 'none');
  const merged = new Map<BothChanged, Leaf>();
  if (files.length === 0) return merged;
  await withVersions(deps, { gitDir: input.gitDir, files }, async (folder, isFit) => {
    const waiting = files.filter(isFit);
    const work = async () => {
      for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
        const flags = driverAt(input, file.path).kind === 'union' ? ['--union'] : [];
        const { isClean, content } = await mergeFile(deps, { gitDir: input.gitDir, folder, file, flags });
        if (isClean) merged.set(file, { mode: file.mode, oid: input.writer.blob(content) });
      }
    };
    await Promise.all(Array.from({ length: mostProcesses }, work));
  });
  return merged;
}

const driverAt = ({ drivers }: { drivers: ReadonlyMap<string, MergeDriver> }, path: string): MergeDriver =>
  drivers.get(path) ?? { kind: 'text' };
