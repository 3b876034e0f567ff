import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = '/workspace';

/** Larger files are not read: a server would not answer in time either. */
const maxBytes = 8 * 1024 * 1024;

export const uriOf = (path: string): string => pathToFileURL(posix.resolve(root, path)).href;

/** The path of a URI: relative to the workspace, or absolute outside of it. Undefined for no file. */
export function pathOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  const path = fileURLToPath(uri);
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** A text without its byte order mark, as language servers count it. */
export interface TextFile {
  text: string;
  sha256: string;
}

/** Undefined for a file that is missing, too large, or no file. */
export function readTextFile(path: string): TextFile | undefined {
  try {
    const absolute = posix.resolve(root, path);
    const stat = statSync(absolute);
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    const bytes = readFileSync(absolute);
    return {
      text: bytes.toString('utf8').replace(/^\uFEFF/, ''),
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
  } catch {
    return undefined;
  }
}

/** Lines as LSP counts them: each ends with \n, \r\n or \r. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length);
  return starts;
}

export const linesOf = (text: string): string[] => text.split(/\r\n|\n|\r/);
