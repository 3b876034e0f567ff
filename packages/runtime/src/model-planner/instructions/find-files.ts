import { posix } from 'node:path';
import type { TreeListing, Workspaces } from '@holdpoint/workspace';
import { foreignFolders } from './tree-text.ts';

/** A line longer than this is data, not a line that imports. */
const longestLine = 2000;
const mostImports = 50;

/**
 * The paths that a text imports: `@path`, at the beginning of a line or behind a blank, outside of code. A path counts from the folder of
 * the text; a path out of the repository is no import.
 */
function importsOf(text: string, folder: string): string[] {
  const found = new Set<string>();
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence !== undefined || line.length > longestLine) continue;
    for (const path of importsIn(line, folder)) found.add(path);
    if (found.size >= mostImports) break;
  }
  return [...found].slice(0, mostImports);
}

function importsIn(line: string, folder: string): string[] {
  const plain = line.replace(/`[^`]*`/g, ' ');
  return [...plain.matchAll(/(?:^|\s)@([^\s@`]+)/g)].flatMap(([, name = '']) => {
    const path = resolved(folder, name);
    // A sentence may end behind the path.
    const short = resolved(folder, name.replace(/[.,;:!?)\]]+$/, ''));
    return [path, short].filter((one) => one !== undefined);
  });
}

/** A path relative to the repository; undefined: it leads out, or is in the home of a user. */
function resolved(folder: string, name: string): string | undefined {
  if (name === '' || name.startsWith('/') || name.startsWith('~')) return undefined;
  const path = posix.join(folder, name);
  return path === '..' || path.startsWith('../') || path === '.' ? undefined : path.replace(/\/$/, '');
}

export interface Reading {
  runId: string;
  /** The snapshot of the source. */
  entries: TreeListing['entries'];
  /** Whether the run may read a path that a file imports. */
  isReadable: (path: string) => boolean;
  signal: AbortSignal;
}

/** A file with instructions, and the files that it imports. */
export interface FoundFile {
  path: string;
  bytes: number;
  /** Undefined: the file is too large to be read. */
  content: Buffer | undefined;
  /** The file that imports it. */
  by?: string;
  imports: FoundFile[];
}

const names: ReadonlySet<string> = new Set(['AGENTS.md', 'CLAUDE.md']);
const most = { files: 20, imported: 20, depth: 5 };
const largestRead = 1024 * 1024;

/**
 * Finds AGENTS.md and CLAUDE.md, the ones at the top first, with the files that they import by `@path`. The texts come from objects of a
 * snapshot: a link, or an import, leads no further than to another file of the same snapshot.
 */
export async function findFiles(
  workspaces: Pick<Workspaces, 'contents'>,
  reading: Reading,
): Promise<{ found: FoundFile[]; others: string[] }> {
  const candidates = reading.entries.filter(({ path, oid }) => oid !== null && isInstruction(path)).sort(byDepth);
  const read = (oids: string[], maxBytes: number) => readContents(workspaces, { ...reading, oids, maxBytes });
  const oidOf = await followLinks(reading, candidates, read);
  const seen = new Set<string>();
  const found = candidates.flatMap(({ path }) => {
    const oid = oidOf(path);
    // AGENTS.md and CLAUDE.md of a folder are often the same.
    const same = `${posix.dirname(path)} ${oid}`;
    if (oid === undefined || seen.has(same)) return [];
    seen.add(same);
    return [{ path, oid }];
  });
  const shown = found.slice(0, most.files);
  const contents = await read(
    shown.map(({ oid }) => oid),
    largestRead,
  );
  const roots = shown.map(({ path }, at): FoundFile => ({ path, ...contentAt(contents, at), imports: [] }));
  await addImports(reading, roots, read);
  return { found: roots, others: found.slice(most.files).map(({ path }) => path) };
}

type Read = (oids: string[], maxBytes: number) => Promise<Content[]>;

/** The contents of files behind links, one link far. */
async function followLinks(
  { entries }: Pick<Reading, 'entries'>,
  candidates: TreeListing['entries'],
  read: Read,
): Promise<(path: string) => string | undefined> {
  const files = new Map(entries.map((entry) => [entry.path, entry]));
  const links = candidates.filter(({ isLink }) => isLink);
  const targets = await read(
    links.map(({ oid }) => oid ?? ''),
    4096,
  );
  const linked = new Map(
    links.map(({ path }, at) => [path, resolved(posix.dirname(path), targets[at]?.content?.toString() ?? '')]),
  );
  return (path) => {
    const entry = files.get(path);
    const target = entry?.isLink ? files.get(linked.get(path) ?? '') : entry;
    return target?.isLink ? undefined : (target?.oid ?? undefined);
  };
}

/** Adds what the files import, level by level. Each file comes once, so a cycle ends. */
async function addImports(reading: Reading, roots: FoundFile[], read: Read): Promise<void> {
  const files = new Map(reading.entries.flatMap(({ path, oid, isLink }) => (isLink ? [] : [[path, oid]])));
  const seen = new Set(roots.map(({ path }) => path));
  let level = roots;
  for (let depth = 0, left = most.imported; depth < most.depth && left > 0 && level.length > 0; depth++) {
    const wanted = level.flatMap((by) =>
      importsOf(by.content?.toString() ?? '', posix.dirname(by.path)).flatMap((path) => {
        const oid = files.get(path);
        if (typeof oid !== 'string' || seen.has(path) || !reading.isReadable(path)) return [];
        seen.add(path);
        return [{ path, oid, by }];
      }),
    );
    const next = wanted.slice(0, left);
    left -= next.length;
    const contents = await read(
      next.map(({ oid }) => oid),
      largestRead,
    );
    level = next.map(({ path, by }, at) => {
      const file: FoundFile = { path, by: by.path, ...contentAt(contents, at), imports: [] };
      by.imports.push(file);
      return file;
    });
  }
}

const isInstruction = (path: string): boolean => {
  const segments = path.split('/');
  return names.has(segments.at(-1) ?? '') && !segments.some((segment) => foreignFolders.has(segment));
};

const depth = (path: string): number => path.split('/').length;
const byDepth = (one: { path: string }, other: { path: string }): number =>
  depth(one.path) - depth(other.path) || (one.path < other.path ? -1 : 1);

interface Content {
  bytes: number;
  content: Buffer | undefined;
}

const contentAt = (contents: readonly Content[], at: number): Content =>
  contents[at] ?? { bytes: 0, content: undefined };

async function readContents(
  workspaces: Pick<Workspaces, 'contents'>,
  { runId, oids, maxBytes, signal }: { runId: string; oids: string[]; maxBytes: number; signal: AbortSignal },
): Promise<Content[]> {
  const contents: Content[] = [];
  if (oids.length === 0) return contents;
  await workspaces.contents({
    ...{ runId, oids, maxBytes, signal },
    onContent: async ({ index, bytes, content }) => {
      contents[index] = { bytes, content };
    },
  });
  return contents;
}
