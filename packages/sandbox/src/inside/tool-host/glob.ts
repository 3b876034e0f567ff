import { lstatSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fastGlob, { type Options } from 'fast-glob';
import { checkGlob } from './check-glob.ts';
import { fromGlobName, globFileSystem, globFileSystemSync, toGlobName } from './glob-names.ts';
import { fitReply, type Operations, Refusal, sortByBytes } from './protocol.ts';
import { resolve } from './resolve.ts';

/** The count stops here. A path takes about 100 bytes of memory. */
const maxMatches = 500_000;

export async function glob(root: string, input: Operations['glob']['input']): Promise<Operations['glob']['output']> {
  const { path: cwd, stats } = resolve(root, input.cwd);
  if (!stats) throw new Refusal('ENOENT', 'no such directory');
  if (!stats.isDirectory()) throw new Refusal('ENOTDIR', 'it is not a directory');
  const patterns = input.patterns.map((pattern) => checkPattern(root, pattern));
  for (const pattern of [...patterns, ...input.ignore]) checkGlob(pattern);
  if (input.depth === 0) return { paths: [], total: 0, truncated: false, facts: [] };
  const prefix = relative(root, cwd);
  const paths: string[] = [];
  const isInside = insideTest(root);
  const options = {
    cwd: toGlobName(cwd),
    ignore: input.ignore.map((pattern) => withLiterals(toGlobName(pattern))),
    dot: input.dot,
    onlyFiles: input.type === 'file',
    onlyDirectories: input.type === 'directory',
    followSymbolicLinks: false,
    deep: input.depth ?? Number.POSITIVE_INFINITY,
    suppressErrors: true, // an unreadable directory hides only its content
    unique: patterns.length > 1 || patterns.some((pattern) => pattern.includes('{')), // else no path is found twice
  };
  let truncated = false;
  const wanted = patterns.map((pattern) => asFastGlob(toGlobName(pattern), input));
  const matches = matchesInFew(wanted, options) ?? fastGlob.stream(wanted, { ...options, fs: globFileSystem });
  for await (const match of matches) {
    const path = join(prefix, fromGlobName(String(match)));
    if (!isInside(path)) continue;
    paths.push(path);
    truncated = paths.length === maxMatches;
    if (truncated) break;
  }
  const { shown, facts } = arrange(root, paths, input);
  return {
    paths: shown,
    total: paths.length,
    truncated: truncated || paths.length > input.offset + shown.length,
    facts,
  };
}

/**
 * Trees with at most this many names are searched synchronously, in 20 ms. Threads read larger trees, and a larger tree is never in memory
 * as a whole.
 */
const fewNames = 10_000;

/** The matches in a small tree, because threads would take longer than the work. Undefined for a larger tree. */
function matchesInFew(patterns: string[], options: Options): string[] | undefined {
  let left = fewNames;
  const fs = globFileSystemSync((names) => {
    left -= names;
    return left >= 0;
  });
  const found = fastGlob.sync(patterns, { ...options, fs });
  return left >= 0 ? found : undefined;
}

interface Match {
  path: string;
  bytes: number;
  mtime_ms: number;
}

function arrange(
  root: string,
  found: readonly string[],
  { sort, offset, limit, facts }: Operations['glob']['input'],
): { shown: string[]; facts: Omit<Match, 'path'>[] } {
  const paths = sortByBytes(found);
  const page = paths.slice(offset, offset + limit);
  if (sort === 'path' && !facts) return { shown: fitReply(page), facts: [] };
  const matches = (sort === 'path' ? page : paths).map((path) => describe(root, path));
  // Sorting is stable, so equal matches stay in byte order.
  if (sort === 'newest') matches.sort((a, b) => b.mtime_ms - a.mtime_ms);
  if (sort === 'largest') matches.sort((a, b) => b.bytes - a.bytes);
  const shown = fitReply(sort === 'path' ? matches : matches.slice(offset, offset + limit));
  return {
    shown: shown.map(({ path }) => path),
    facts: facts ? shown.map(({ bytes, mtime_ms }) => ({ bytes, mtime_ms })) : [],
  };
}

/** Size and time are 0 when the match has disappeared. */
function describe(root: string, path: string): Match {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  return { path, bytes: stats?.size ?? 0, mtime_ms: stats?.mtimeMs ?? 0 };
}

function checkPattern(root: string, pattern: string): string {
  if (pattern === '' || pattern.includes('\0'))
    throw new Refusal('EINVAL', 'a pattern is empty or contains a NUL byte');
  for (const prefix of [root, '/workspace'])
    if (pattern.startsWith(`${prefix}/`)) return pattern.slice(prefix.length + 1);
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
    throw new Refusal('EOUTSIDE', `the pattern ${pattern} leads outside the workspace`);
  }
  return pattern;
}

/** fast-glob follows a link named literally in a pattern, and braces can hide `..`. So each directory of a match is checked, once. */
function insideTest(root: string): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const directory = dirname(path);
    const answer = known.get(directory) ?? isReal(root, directory);
    known.set(directory, answer);
    return answer && !path.startsWith('..');
  };
}

function isReal(root: string, directory: string): boolean {
  let path = root;
  for (const name of directory.split('/')) {
    if (name === '.') continue;
    path = join(path, name);
    if (name === '..' || !lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  }
  return true;
}

/**
 * Translates a pattern of git and bash for fast-glob, including `withLiterals`. The differences:
 * - in fast-glob `a/**` also matches `a`, in git and bash only the entries inside
 * - fast-glob reads `?` literally when `?` is the only wildcard of a directory (`src/?/a`), so `?` becomes a class of characters
 */
function asFastGlob(pattern: string, { dot }: { dot: boolean }): string {
  const segments = withLiterals(pattern)
    .split('/')
    .map((segment, index, all) => {
      const isDirectory = index < all.length - 1;
      if (!isDirectory || !segment.includes('?') || /[*[\]{}()]/.test(segment)) return segment;
      return segment.replace(/\\.|\?/g, (found, at: number) => {
        if (found !== '?') return found;
        return at === 0 && !dot ? anyButDot : any;
      });
    });
  return withLiterals(pattern.endsWith('/**') ? `${segments.join('/')}/*` : segments.join('/'));
}

/**
 * Escapes literal characters with a special meaning in fast-glob:
 * - a `+` behind a class or parentheses repeats the class or group
 * - fast-glob reads a pattern ending in an escaped bracket or brace (`app/\[id\]`) as a directory, but a pattern ending in a class as a
 *   name
 */
function withLiterals(pattern: string): string {
  if (!/[[\](){}]/.test(pattern)) return pattern;
  return pattern.replace(/\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|\+(?!\()/gs, (found) => {
    if (found === '+') return '\\+';
    return /^\\[[\]{}]$/.test(found) ? `[${found.slice(1)}]` : found;
  });
}

/** Every character of a name. */
const any = '[\u0001-.0-\uffff]';
const anyButDot = '[\u0001-,0-\uffff-]';
