import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Conflict, HunkChoice, Resolution } from '@holdpoint/contract';
import type { Deps } from '../../deps.ts';
import { type Leaf, type Mode, modes } from '../../store/objects/index.ts';
import { type BothHave, emptyFile, pick, type ThreeWay, versionsOf, withVersions } from './merge-folders.ts';
import { type Hunk, isHunk, type MergedPiece, splitMerge } from './split-merge.ts';

/** The versions of a file in conflict. */
export type Versions = ThreeWay<Leaf | null>;

export type ByLines = Extract<Resolution, { digest: string }>;

export const isByLines = (resolution: Resolution): resolution is ByLines => 'digest' in resolution;

/** Digest of the three versions: a choice by lines holds for these alone. */
export function versionsDigest({ base, source, run }: Versions): string {
  const parts = [base, source, run].map((leaf) => leaf && [leaf.mode, leaf.oid]);
  return `sha256:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

/** Whether both sides have a regular file: only then lines can be merged. */
export const bothHave = ({ source, run }: Versions): boolean =>
  source !== null && run !== null && source.mode !== modes.symlink && run.mode !== modes.symlink;

/** The mode of a merged file: from the side with a changed mode; the source's, when both did. */
export function mergedMode({ base, source, run }: Versions): Mode {
  const of = (leaf: Leaf | null) => (leaf === null || leaf.mode === modes.symlink ? undefined : leaf.mode);
  const [theirs, ours] = [of(source), of(run)];
  if (theirs === undefined || ours === undefined) return ours ?? theirs ?? modes.file;
  return pick(of(base), theirs, ours) ?? theirs;
}

/**
 * Merges a file in conflict by lines and calls `use` with the pieces; `folder` has every version in a file with its object id as the name.
 * @returns undefined when the file has no lines to merge: a side has no file there, or a side is a link, binary or too large
 */
export async function withPieces<Result>(
  deps: Pick<Deps, 'git'>,
  { gitDir, versions }: { gitDir: string; versions: Versions },
  use: (pieces: readonly MergedPiece[], folder: string) => Promise<Result> | Result,
): Promise<Result | undefined> {
  if (!bothHave(versions)) return undefined;
  const file = versions as BothHave;
  return withVersions(deps, { gitDir, files: [file] }, async (folder, isFit) => {
    if (!isFit(file)) return undefined;
    return use(await piecesOf(deps, { gitDir, folder, file }), folder);
  });
}

async function piecesOf(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; file: BothHave },
): Promise<MergedPiece[]> {
  const [source, base, run] = versionsOf(input.file).map((oid) => readFileSync(join(input.folder, oid ?? emptyFile)));
  return splitMerge(deps, { ...input, versions: { source, base, run } as Record<keyof Versions, Buffer> });
}

/** Number of git processes at once. */
const mostProcesses = 4;

/** The plan's view of files with a possible merge by lines. A file without a possible merge is not in the result. */
export async function countHunks<File extends Versions>(
  deps: Pick<Deps, 'git'>,
  gitDir: string,
  conflicts: readonly File[],
): Promise<Map<File, Conflict['merge']>> {
  const counted = new Map<File, Conflict['merge']>();
  const files = conflicts.filter(bothHave) as (File & BothHave)[];
  if (files.length === 0) return counted;
  await withVersions(deps, { gitDir, files }, async (folder, isFit) => {
    const waiting = files.filter(isFit);
    const work = async () => {
      for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
        const pieces = await piecesOf(deps, { gitDir, folder, file });
        counted.set(file, { digest: versionsDigest(file), hunks: pieces.filter(isHunk).length });
      }
    };
    await Promise.all(Array.from({ length: mostProcesses }, work));
  });
  return counted;
}

/**
 * The content of a conflict after a resolution by lines.
 * @returns undefined for a resolution of other versions, or unfit for the hunks
 */
export async function mergeByLines(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; versions: Versions; resolution: ByLines },
): Promise<Buffer | undefined> {
  if (input.resolution.digest !== versionsDigest(input.versions)) return undefined;
  return withPieces(deps, input, (pieces) => applyChoices(pieces, input.resolution));
}

/** The merged file with a choice for each hunk; undefined when the choices do not fit. */
export function applyChoices(
  pieces: readonly MergedPiece[],
  { take, hunks = [] }: Pick<ByLines, 'take' | 'hunks'>,
): Buffer | undefined {
  const chosen = new Map(hunks.map((choice) => [choice.hunk, choice]));
  const count = pieces.filter(isHunk).length;
  const isWhole = take !== 'hunks' || chosen.size === count;
  if (!isWhole || chosen.size !== hunks.length || hunks.some(({ hunk }) => hunk > count)) return undefined;
  const rest = take === 'source_lines' ? 'source' : 'run';
  let number = 0;
  return Buffer.concat(
    pieces.map((piece, at) => {
      if (!isHunk(piece)) return piece;
      number += 1;
      return linesOf(piece, chosen.get(number) ?? { hunk: number, take: rest }, at === pieces.length - 1);
    }),
  );
}

function linesOf({ source, run, sourceLines }: Hunk, choice: HunkChoice, isLast: boolean): Buffer {
  switch (choice.take) {
    case 'source':
      return source;
    case 'run':
      return run;
    case 'both':
      return Buffer.concat([sourceLines, run]);
    case 'text': {
      const text = Buffer.from(choice.text);
      if (isLast || text.length === 0 || text.at(-1) === newline) return text;
      return Buffer.concat([text, Buffer.from(endsWithCrlf(sourceLines) || endsWithCrlf(run) ? '\r\n' : '\n')]);
    }
    default:
      throw choice satisfies never;
  }
}

const newline = 0x0a;
const endsWithCrlf = (lines: Buffer): boolean => lines.subarray(-2).toString('latin1') === '\r\n';
