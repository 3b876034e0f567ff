import { lstatSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fastGlob from 'fast-glob';
import { byBytes, fitReply } from './listing.ts';
import type { Operations } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { resolve } from './resolve.ts';

/** The count stops here. A path takes about 100 bytes of memory. */
const maxMatches = 500_000;

export async function glob(root: string, input: Operations['glob']['input']): Promise<Operations['glob']['output']> {
  const { path: cwd, stats } = resolve(root, input.cwd);
  if (!stats) throw new Refusal('ENOENT', 'no such directory');
  if (!stats.isDirectory()) throw new Refusal('ENOTDIR', 'it is not a directory');
  const patterns = input.patterns.map((pattern) => checkPattern(root, pattern));
  const prefix = relative(root, cwd);
  const paths: string[] = [];
  const isInside = insideTest(root);
  const options = {
    cwd,
    ignore: [...input.ignore],
    dot: input.dot,
    onlyFiles: input.type === 'file',
    onlyDirectories: input.type === 'directory',
    followSymbolicLinks: false,
    suppressErrors: true, // an unreadable directory hides only its content
  };
  let truncated = false;
  for await (const match of fastGlob.stream(patterns, options)) {
    const path = join(prefix, String(match));
    if (!isInside(path)) continue;
    paths.push(path);
    truncated = paths.length === maxMatches;
    if (truncated) break;
  }
  paths.sort(byBytes);
  const shown = fitReply(paths.slice(0, input.limit));
  return { paths: shown, total: paths.length, truncated: truncated || paths.length > shown.length };
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

/** fast-glob follows a link that a pattern names literally, and braces can hide `..`. So each directory of a match is checked once. */
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
