import { lstat, readFile, readlink, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { type Mismatch, mismatch, missing, show } from './match.ts';
import type { FileMatcher } from './matcher.ts';

/** The entry at a path. A link inside the workspace has the state of its target, and `link` marks the link. */
export type FileState =
  | { type: 'absent' }
  | { type: 'directory'; link?: boolean }
  | { type: 'file'; content: Buffer; link?: boolean }
  | { type: 'symlink'; target: string }
  | { type: 'other' };

/** Reads a path below a directory of the host, and follows no link to the outside. */
export async function readState(root: string, path: string): Promise<FileState> {
  const full = join(root, path);
  const stat = await lstat(full).catch(() => undefined);
  if (!stat) return { type: 'absent' };
  if (!stat.isSymbolicLink()) return stateOf(full, stat);
  const [real, within] = await Promise.all([realpath(full).catch(() => undefined), realpath(root)]);
  if (real === undefined || !real.startsWith(within + sep)) return { type: 'symlink', target: await readlink(full) };
  const state = await stateOf(real, await lstat(real));
  return 'content' in state || state.type === 'directory' ? { ...state, link: true } : state;
}

async function stateOf(path: string, stat: { isFile(): boolean; isDirectory(): boolean }): Promise<FileState> {
  if (stat.isDirectory()) return { type: 'directory' };
  return stat.isFile() ? { type: 'file', content: await readFile(path) } : { type: 'other' };
}

/** The difference between the state and the expectation; undefined without a difference. */
export function fileMismatch(state: FileState, matcher: FileMatcher): Mismatch | undefined {
  if ('type' in matcher) {
    const type = 'link' in state && state.link ? 'symlink' : state.type;
    return type === matcher.type || state.type === matcher.type ? undefined : { expected: matcher.type, got: type };
  }
  if (state.type === 'absent') {
    return 'base64' in matcher ? { expected: matcher.base64, got: 'nothing' } : mismatch(missing, matcher);
  }
  const expected = 'base64' in matcher ? matcher.base64 : show(matcher);
  if (state.type !== 'file') return { expected, got: state.type === 'directory' ? 'a directory' : state.type };
  if ('base64' in matcher) {
    const same = state.content.equals(Buffer.from(matcher.base64, 'base64'));
    return same ? undefined : { expected, got: state.content.toString('base64').slice(0, 300) };
  }
  const text = textOf(state.content);
  return text === undefined ? { expected, got: 'bytes that are not UTF-8' } : mismatch(text, matcher);
}

/** With its byte order mark. */
function textOf(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}
