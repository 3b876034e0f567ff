import { closeSync, openSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps, ObjectWriter } from '../deps.ts';
import { removeFolder, writeAll } from '../files/index.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { type Leaf, modes } from '../tree/index.ts';
import type { MergeDriver } from './merge-drivers.ts';
import type { BothChanged } from './merge-folders.ts';

/** A larger file that both sides changed is a conflict, because git would hold three versions of it in memory. Bytes. */
const largestMerged = 64 * 1024 * 1024;
/** git inspects as many bytes to detect a binary file. */
const inspectedBytes = 8000;
/** Number of git processes at once. */
const mostProcesses = 4;
/** The exit code of `git merge-file` is the number of conflicts, at most this. */
const mostConflicts = 127;

/**
 * Merges file contents with `git merge-file`. The contents are in a private folder and named by object id, so no user path is on a command
 * line. A crash leaves the folder behind; `collect` removes it from the shadow repository.
 * @returns the merged files; a file that is missing here is in conflict
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
  const folder = await mkdtemp(join(input.gitDir, 'tmp_merge-'));
  try {
    const binary = await writeVersions(deps, { ...input, files, folder });
    const waiting = files.filter((file) => !versionsOf(file).some((oid) => oid !== undefined && binary.has(oid)));
    const work = async () => {
      for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
        const { kind } = driverAt(input, file.path);
        const content = await mergeFile(deps, { ...input, folder, file, flags: kind === 'union' ? ['--union'] : [] });
        if (content !== undefined) merged.set(file, { mode: file.mode, oid: input.writer.blob(content) });
      }
    };
    await Promise.all(Array.from({ length: mostProcesses }, work));
  } finally {
    await removeFolder(folder);
  }
  return merged;
}

const driverAt = ({ drivers }: { drivers: ReadonlyMap<string, MergeDriver> }, path: string): MergeDriver =>
  drivers.get(path) ?? { kind: 'text' };

/** Contents to merge: source, base, run. A base that is not a regular file counts as empty. */
function versionsOf({ base, source, run }: BothChanged): [string, string | undefined, string] {
  return [source.oid, base === null || base.mode === modes.symlink ? undefined : base.oid, run.oid];
}

/** Writes every version to a file named by its object id. @returns ids of the versions that cannot be merged (binary or too large) */
async function writeVersions(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; files: readonly BothChanged[] },
): Promise<Set<string>> {
  const oids = [...new Set(input.files.flatMap(versionsOf).filter((oid) => oid !== undefined))];
  const unfit = new Set<string>();
  await writeFile(join(input.folder, 'empty'), '');
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

async function mergeFile(
  deps: Pick<Deps, 'git'>,
  { gitDir, folder, file, flags }: { gitDir: string; folder: string; file: BothChanged; flags: readonly string[] },
): Promise<Buffer | undefined> {
  const names = versionsOf(file).map((oid) => oid ?? 'empty');
  const accept = Array.from({ length: mostConflicts + 1 }, (_, code) => code);
  const { code, stdout } = await deps.git.run([`--git-dir=${gitDir}`, 'merge-file', '-p', '-q', ...flags, ...names], {
    ...{ cwd: folder, accept, maxBytes: 4 * largestMerged },
  });
  return code === 0 ? stdout : undefined;
}
