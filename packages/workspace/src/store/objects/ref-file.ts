import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncPath, writeDurably } from '../../files/index.ts';

/** Points a ref at an object, in a repository with this package as its only writer. On disk at the return. */
export async function writeRef(gitDir: string, ref: string, oid: string): Promise<void> {
  const path = join(gitDir, ref);
  const folder = dirname(path);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    await syncPath(dirname(folder));
  }
  await writeDurably(path, `${oid}\n`, 0o644);
}

/** Whether `writeRef` has written this ref. */
export const hasRef = (gitDir: string, ref: string): boolean => existsSync(join(gitDir, ref));

/** Characters forbidden in every ref: controls, blanks, and the syntax of revisions and of patterns. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a ref has none.
const forbidden = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/;

/** Whether git accepts a full ref name, by the rules of `git check-ref-format`: https://git-scm.com/docs/git-check-ref-format */
export function isRefName(name: string): boolean {
  if (!name.isWellFormed() || forbidden.test(name) || name.endsWith('.')) return false;
  const parts = name.split('/');
  return parts.length > 1 && parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
