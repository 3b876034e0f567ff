import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Conflict } from '@holdpoint/contract';
import type { Deps, ObjectWriter } from '../../../deps.ts';
import { streamBlobs } from '../../../host-git/stream-blobs.ts';
import { isPointer, largestPointer, pointerTo } from '../../../source/lfs-pointer.ts';
import * as objects from '../../../store/objects/index.ts';
import type { MergeDriver } from '../../merge/merge-trees.ts';
import { type Attributes, cleanText, isTextWithCrlf, readAttributes } from './clean-text.ts';

/** A larger file is not converted, because the whole file would be in memory. Bytes. */
const largestText = 64 * 1024 * 1024;

/** Content stored by git-lfs; the repository has a pointer to the content. */
export interface LfsObject {
  /** The blob in the run's repository. */
  oid: string;
  sha256: string;
  bytes: number;
}

type Conversion = 'line_endings' | 'ident' | 'lfs';

export interface CleanedChanges {
  /** The changes with the content in git's stored form. */
  changes: objects.Change[];
  converted: { path: string; how: Conversion }[];
  /** Files in need of more than git's built-in conversions, and so of a person's decision. */
  held: { change: objects.Change; detail: string; reason?: Conflict['reason'] }[];
  objects: LfsObject[];
  /** Oids of the new LFS pointers, by path. */
  pointers: Map<string, string>;
  /** The merge drivers of the branch, by path; undefined when the run changed a `.gitattributes`. */
  drivers: ReadonlyMap<string, MergeDriver> | undefined;
}

interface Input {
  shadow: string;
  writer: ObjectWriter;
  /** The user's git directory, and the reason against LFS objects inside. */
  source: { gitDir: string; withoutLfs(): Promise<string | undefined> };
  /** The tree below the run's changes. */
  before: objects.Folder;
  /** The current tree of the branch. */
  at: objects.Folder;
  changes: readonly objects.Change[];
}

interface Ready extends Input {
  withoutLfs: string | undefined;
}

/** A version of a changed file. */
interface Item {
  path: string;
  leaf: objects.Leaf;
  attributes: Attributes;
  keepsCrlf: boolean;
}

type Cleaned = { leaf: objects.Leaf; how?: Conversion; object?: LfsObject } | { problem: string };

/**
 * Converts the run's changes to the form stored by `git add`, by the `.gitattributes` of the branch and the run: line endings and
 * `ident` by git's own rules, a pointer in place of LFS content. No filter of the host runs: a file with any other filter is held.
 */
export async function cleanChanges(deps: Pick<Deps, 'git'>, input: Input): Promise<CleanedChanges> {
  const { conversions: attributes, drivers } = await attributesOf(deps, input);
  const result: CleanedChanges = { changes: [], converted: [], held: [], objects: [], pointers: new Map(), drivers };
  if (attributes.size === 0) return { ...result, changes: [...input.changes] };
  const there = (path: string) => {
    const entry = objects.find(input.before, path.split('/'));
    return objects.isLeaf(entry) ? entry : null;
  };
  const withCrlf = await crlfIn(deps, input, attributes);
  const itemOf = (path: string, leaf: objects.Leaf | null): Item | undefined => {
    const found = attributes.get(path);
    if (leaf === null || leaf.mode === objects.modes.symlink || found === undefined) return undefined;
    return { path, leaf, attributes: found, keepsCrlf: withCrlf.has(there(path)?.oid ?? '') };
  };
  const pairs = input.changes.map((change) => {
    const isRaw = objects.isSame(there(change.path) ?? undefined, change.old ?? undefined);
    const isMoved = change.new?.oid !== change.old?.oid;
    const old = isRaw ? undefined : itemOf(change.path, change.old);
    return { change, old, now: isMoved ? itemOf(change.path, change.new) : undefined };
  });
  const items = pairs.flatMap(({ old, now }) => [old, now].filter((item) => item !== undefined));
  const usesLfs = items.some(({ attributes: { filter } }) => filter === 'lfs');
  const withoutLfs = usesLfs ? await input.source.withoutLfs() : undefined;
  const cleaned = await cleanItems(deps, { ...input, withoutLfs }, items);
  for (const { change, old, now } of pairs) {
    const before = old && cleaned.get(old);
    const after = now && cleaned.get(now);
    const oldLeaf = before !== undefined && 'leaf' in before ? before.leaf : change.old;
    if (after !== undefined && 'problem' in after) {
      result.held.push({ change: { ...change, old: oldLeaf }, detail: after.problem });
      continue;
    }
    // When only the mode changed, keep the content of the old version.
    const mode = change.new?.mode ?? objects.modes.file;
    const unmoved = change.new?.oid === change.old?.oid && oldLeaf !== null ? { mode, oid: oldLeaf.oid } : change.new;
    result.changes.push({ path: change.path, old: oldLeaf, new: change.new && (after?.leaf ?? unmoved) });
    if (after?.how !== undefined) result.converted.push({ path: change.path, how: after.how });
    if (after?.object !== undefined) {
      result.objects.push(after.object);
      result.pointers.set(change.path, after.leaf.oid);
    }
  }
  return result;
}

/** Attributes of the changed paths with a conversion. A `.gitattributes` changed by the run counts in its new version. */
async function attributesOf(
  deps: Pick<Deps, 'git'>,
  input: Input,
): Promise<{ conversions: Map<string, Attributes>; drivers: CleanedChanges['drivers'] }> {
  const own = input.changes.filter(({ path }) => path.split('/').at(-1) === '.gitattributes');
  const { root } = objects.applyChanges(input.at, own);
  const paths = input.changes.filter((change) => change.new !== null).map(({ path }) => path);
  const { shadow, source } = input;
  const { conversions, drivers } = await readAttributes(deps, { shadow, source: source.gitDir, root, paths });
  for (const [path, { lines, ident, filter, encoding }] of conversions) {
    if (lines === 'unchanged' && !ident && filter === undefined && encoding === undefined) conversions.delete(path);
  }
  return { conversions, drivers: own.length === 0 ? drivers : undefined };
}

/** Text files of the repository with CRLF: `text=auto` keeps their line endings. */
async function crlfIn(
  deps: Pick<Deps, 'git'>,
  input: Input,
  attributes: ReadonlyMap<string, Attributes>,
): Promise<Set<string>> {
  const leaves = [...attributes]
    .filter(([, { lines }]) => lines === 'auto')
    .map(([path]) => objects.find(input.before, path.split('/')))
    .filter((entry) => objects.isLeaf(entry));
  const found = new Set<string>();
  await readBlobs(deps, input.shadow, [...new Set(leaves.map(({ oid }) => oid))], {
    end: (oid, content) => {
      if (content !== undefined && isTextWithCrlf(content)) found.add(oid);
    },
  });
  return found;
}

async function cleanItems(deps: Pick<Deps, 'git'>, input: Ready, items: readonly Item[]): Promise<Map<Item, Cleaned>> {
  const cleaned = new Map<Item, Cleaned>();
  const byOid = Map.groupBy(items, ({ leaf }) => leaf.oid);
  let hash = createHash('sha256');
  let bytes = 0;
  await readBlobs(deps, input.shadow, [...byOid.keys()], {
    begin: (size) => {
      hash = createHash('sha256');
      bytes = size;
    },
    piece: (piece) => hash.update(piece),
    end: (oid, content) => {
      const object: LfsObject = { oid, sha256: hash.digest('hex'), bytes };
      for (const item of byOid.get(oid) ?? []) cleaned.set(item, cleanItem(input, item, { content, object }));
    },
  });
  return cleaned;
}

function cleanItem(input: Ready, item: Item, of: { content: Buffer | undefined; object: LfsObject }): Cleaned {
  const { leaf, attributes } = item;
  const { content, object } = of;
  const { filter, encoding } = attributes;
  if (filter === 'lfs') {
    if (object.bytes <= largestPointer && content !== undefined && isPointer(content)) return { leaf };
    if (input.withoutLfs !== undefined) return { problem: input.withoutLfs };
    return { leaf: { ...leaf, oid: input.writer.blob(pointerTo(object)) }, how: 'lfs', object };
  }
  if (filter !== undefined) {
    return {
      problem: `.gitattributes set the filter ${JSON.stringify(filter)} for this file, and filters of the host are not run. Take the run to commit its content unfiltered.`,
    };
  }
  if (content === undefined) return { problem: 'The file is too large to convert its line endings.' };
  if (encoding !== undefined && (!isUtf8(content) || content.includes(0))) {
    return {
      problem: `.gitattributes store this file as UTF-8 (working-tree-encoding=${encoding}), and the run's content is not UTF-8.`,
    };
  }
  const clean = cleanText(content, { ...attributes, keepsCrlf: item.keepsCrlf });
  if (clean.equals(content)) return { leaf };
  const lines = cleanText(content, { ...attributes, ident: false, keepsCrlf: item.keepsCrlf });
  return {
    leaf: { ...leaf, oid: input.writer.blob(clean) },
    how: lines.equals(content) ? 'ident' : 'line_endings',
  };
}

interface Reader {
  begin?(size: number): void;
  piece?(bytes: Buffer): void;
  /** @param content undefined when too large for memory */
  end(oid: string, content: Buffer | undefined): void;
}

async function readBlobs(
  deps: Pick<Deps, 'git'>,
  gitDir: string,
  oids: readonly string[],
  reader: Reader,
): Promise<void> {
  let current = { oid: '', size: 0, pieces: [] as Buffer[] };
  await streamBlobs(
    deps,
    { gitDir, oids },
    {
      begin: (index, size) => {
        current = { oid: oids[index] ?? '', size, pieces: [] };
        reader.begin?.(size);
      },
      piece: (bytes) => {
        reader.piece?.(bytes);
        if (current.size <= largestText) current.pieces.push(bytes);
      },
      end: () => reader.end(current.oid, current.size <= largestText ? Buffer.concat(current.pieces) : undefined),
    },
  );
}
