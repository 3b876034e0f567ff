import { closeSync, openSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../../deps.ts';
import { removeFolder, writeAll } from '../../files/index.ts';
import { streamBlobs } from '../../host-git/stream-blobs.ts';
import { type Leaf, modes } from '../../store/objects/index.ts';
import type { ThreeWay } from './merge-folders.ts';

/** A larger file with changes by both sides is a conflict, because git would hold three versions of the file in memory. Bytes. */
export const largestMerged = 64 * 1024 * 1024;
/** git inspects as many bytes to detect a binary file. */
const inspectedBytes = 8000;
/** The exit code of `git merge-file` is the number of conflicts, at most this. */
const mostConflicts = 127;
/** Stands for a missing base. */
export const emptyFile = 'empty';

/** A file present on both sides. */
export type BothHave = ThreeWay<Leaf | null> & { readonly source: Leaf; readonly run: Leaf };

/** Contents to merge: source, base, run. A base other than a regular file counts as empty. */
export function versionsOf({ base, source, run }: BothHave): [string, string | undefined, string] {
  return [source.oid, base === null || base.mode === modes.symlink ? undefined : base.oid, run.oid];
}

/**
 * Calls `use` with a private folder with every version in a file named by its object id: no user path is on a command line. A crash leaves
 * the folder behind; `collect` removes the folder from the shadow repository.
 */
export async function withVersions<Result>(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; files: readonly BothHave[] },
  use: (folder: string, isFit: (file: BothHave) => boolean) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(input.gitDir, 'tmp_merge-'));
  try {
    const unfit = await writeVersions(deps, { ...input, folder });
    return await use(folder, (file) => !versionsOf(file).some((oid) => oid !== undefined && unfit.has(oid)));
  } finally {
    await removeFolder(folder);
  }
}

/**
 * Merges a file from its versions in the folder.
 * @param input.flags of `git merge-file`, such as `--union`
 * @returns `isClean`: no line is in conflict
 */
export async function mergeFile(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; file: BothHave; flags: readonly string[] },
): Promise<{ isClean: boolean; content: Buffer }> {
  const { gitDir, folder: cwd, file, flags } = input;
  const names = versionsOf(file).map((oid) => oid ?? emptyFile);
  const accept = Array.from({ length: mostConflicts + 1 }, (_, code) => code);
  const args = [`--git-dir=${gitDir}`, 'merge-file', '-p', '-q', ...flags, ...names];
  const { code, stdout } = await deps.git.run(args, { cwd, accept, maxBytes: 4 * largestMerged });
  return { isClean: code === 0, content: stdout };
}

/** Writes every version to a file named by its object id. @returns ids of the unmergeable versions (binary or too large) */
async function writeVersions(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; files: readonly BothHave[] },
): Promise<Set<string>> {
  const oids = [...new Set(input.files.flatMap(versionsOf).filter((oid) => oid !== undefined))];
  const unfit = new Set<string>();
  await writeFile(join(input.folder, emptyFile), '');
  let open: { oid: string; fd: number; bytes: number } | undefined;
  try {
    await streamBlobs(
      deps,
      { gitDir: input.gitDir, oids },
      {
        begin: (index, size) => {
          const oid = oids[index] ?? '';
          if (size > largestMerged) unfit.add(oid);
          open = { oid, fd: openSync(join(input.folder, oid), 'wx', 0o600), bytes: 0 };
        },
        piece: (bytes) => {
          if (open === undefined) return;
          if (bytes.subarray(0, Math.max(inspectedBytes - open.bytes, 0)).includes(0)) unfit.add(open.oid);
          open.bytes += bytes.length;
          if (!unfit.has(open.oid)) writeAll(open.fd, bytes);
        },
        end: () => {
          if (open !== undefined) closeSync(open.fd);
          open = undefined;
        },
      },
    );
  } finally {
    if (open !== undefined) closeSync(open.fd);
  }
  return unfit;
}
