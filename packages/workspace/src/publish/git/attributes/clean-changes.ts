import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Deps } from '../../../deps.ts';
import type { ObjectWriter } from '../../../git-objects/object-writer.ts';
import { streamBlobs } from '../../../host-git/stream-blobs.ts';
import { type Change, type Folder, find, isLeaf, isSame, type Leaf, modes } from '../../../tree/tree.ts';
import { overlay } from '../../overlay.ts';
import { cleanText, isTextWithCrlf } from './clean-text.ts';
import { isPointer, largestPointer, pointerTo } from './lfs-pointer.ts';
import { type Attributes, readAttributes } from './read-attributes.ts';

/** A larger file is not converted: all of it would be in memory. Bytes. */
const largestText = 64 * 1024 * 1024;

/** Content that git-lfs keeps, and that a pointer stands for in the repository. */
export interface LfsObject {
  /** The blob in the run's repository. */
  oid: string;
  sha256: string;
  bytes: number;
}

type Conversion = 'line_endings' | 'ident' | 'lfs';

export interface CleanedChanges {
  /** Each with what git would keep of the file, where that is known. */
  changes: Change[];
  converted: { path: string; how: Conversion }[];
  /** Files that need more than git's built-in conversions, and why nothing can be kept of them without being asked. */
  held: { change: Change; detail: string }[];
  objects: LfsObject[];
  /** Pointers that stand for what the run has, by path. */
  pointers: Map<string, string>;
}

interface Input {
  shadow: string;
  writer: ObjectWriter;
  /** The user's git directory, and why it can take no LFS objects. */
  source: { gitDir: string; withoutLfs: string | undefined };
  /** What the run's changes apply to. */
  before: Folder;
  /** What the branch has. */
  at: Folder;
  changes: readonly Change[];
}

/** One version of a changed file. */
interface Item {
  path: string;
  leaf: Leaf;
  attributes: Attributes;
  keepsCrlf: boolean;
}

type Cleaned = { leaf: Leaf; how?: Conversion; object?: LfsObject } | { problem: string };

/**
 * What git would put into the repository if somebody added what the run changed, by the `.gitattributes` of the branch and the run: line
 * endings and `ident` by git's own rules, a pointer in place of LFS content. No filter of the host runs: a file under any other one is held.
 */
export async function cleanChanges(deps: Pick<Deps, 'git'>, input: Input): Promise<CleanedChanges> {
  const result: CleanedChanges = { changes: [], converted: [], held: [], objects: [], pointers: new Map() };
  const attributes = await attributesOf(deps, input);
  if (attributes.size === 0) return { ...result, changes: [...input.changes] };
  const there = (path: string) => {
    const entry = find(input.before, path.split('/'));
    return isLeaf(entry) ? entry : null;
  };
  const withCrlf = await crlfIn(deps, input, attributes);
  const itemOf = (path: string, leaf: Leaf | null): Item | undefined => {
    const found = attributes.get(path);
    if (leaf === null || leaf.mode === modes.symlink || found === undefined) return undefined;
    return { path, leaf, attributes: found, keepsCrlf: withCrlf.has(there(path)?.oid ?? '') };
  };
  const pairs = input.changes.map((change) => {
    const isRaw = isSame(there(change.path) ?? undefined, change.old ?? undefined);
    const isMoved = change.new?.oid !== change.old?.oid;
    const old = isRaw ? undefined : itemOf(change.path, change.old);
    return { change, old, now: isMoved ? itemOf(change.path, change.new) : undefined };
  });
  const items = pairs.flatMap(({ old, now }) => [old, now].filter((item) => item !== undefined));
  const cleaned = await cleanItems(deps, input, items);
  for (const { change, old, now } of pairs) {
    const before = old && cleaned.get(old);
    const after = now && cleaned.get(now);
    const oldLeaf = before !== undefined && 'leaf' in before ? before.leaf : change.old;
    if (after !== undefined && 'problem' in after) {
      result.held.push({ change: { ...change, old: oldLeaf }, detail: after.problem });
      continue;
    }
    // Where only the mode changed, the content is that of the old version.
    const mode = change.new?.mode ?? modes.file;
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

/** Of the paths that have any which matter. A `.gitattributes` that the run changed counts as it is now. */
async function attributesOf(deps: Pick<Deps, 'git'>, input: Input): Promise<Map<string, Attributes>> {
  const own = input.changes.filter(({ path }) => path.split('/').at(-1) === '.gitattributes');
  const { root } = overlay(input.at, own);
  const paths = input.changes.filter((change) => change.new !== null).map(({ path }) => path);
  const { shadow, source } = input;
  const found = await readAttributes(deps, { shadow, source: source.gitDir, root, paths });
  for (const [path, { lines, ident, filter, encoding }] of found) {
    if (lines === 'as they are' && !ident && filter === undefined && encoding === undefined) found.delete(path);
  }
  return found;
}

/** Files of the repository that are text with CRLF already: `text=auto` leaves them so. */
async function crlfIn(
  deps: Pick<Deps, 'git'>,
  input: Input,
  attributes: ReadonlyMap<string, Attributes>,
): Promise<Set<string>> {
  const leaves = [...attributes]
    .filter(([, { lines }]) => lines === 'auto')
    .map(([path]) => find(input.before, path.split('/')))
    .filter((entry) => isLeaf(entry));
  const found = new Set<string>();
  await readBlobs(deps, input.shadow, [...new Set(leaves.map(({ oid }) => oid))], {
    end: (oid, content) => {
      if (content !== undefined && isTextWithCrlf(content)) found.add(oid);
    },
  });
  return found;
}

async function cleanItems(deps: Pick<Deps, 'git'>, input: Input, items: readonly Item[]): Promise<Map<Item, Cleaned>> {
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

function cleanItem(input: Input, item: Item, of: { content: Buffer | undefined; object: LfsObject }): Cleaned {
  const { leaf, attributes } = item;
  const { content, object } = of;
  const { filter, encoding } = attributes;
  if (filter === 'lfs') {
    if (object.bytes <= largestPointer && content !== undefined && isPointer(content)) return { leaf };
    if (input.source.withoutLfs !== undefined) return { problem: input.source.withoutLfs };
    return { leaf: { ...leaf, oid: input.writer.blob(pointerTo(object)) }, how: 'lfs', object };
  }
  if (filter !== undefined) {
    return {
      problem: `.gitattributes pass this file through the filter ${JSON.stringify(filter)} when it is added, and no filter of the host is run. Take the run, and its content is committed as it is, unfiltered.`,
    };
  }
  if (content === undefined) return { problem: 'The file is too large for its line endings to be converted.' };
  if (encoding !== undefined && (!isUtf8(content) || content.includes(0))) {
    return {
      problem: `.gitattributes keep this file as UTF-8 in the repository (working-tree-encoding=${encoding}), and what the run wrote is not UTF-8.`,
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
  /** @param content undefined: too large to be held in memory */
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
