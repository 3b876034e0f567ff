import { relative } from 'node:path';
import { Refusal } from './protocol.ts';

/** Characters ignored by HFS+ in names: zero-width joiners, direction marks, the byte order mark. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/**
 * Whether some file system treats a name as `.git`: another case, characters ignored by HFS+, trailing dots and spaces, NTFS streams and
 * the short name. The workspace package has the same rule for bytes. A test in `tests/hostile` compares both rules.
 */
export function isDotGit(name: string): boolean {
  const folded = name.replace(ignoredByHfs, '').toLowerCase();
  return /^(\.git|git~1)([ .]*(:.*)?)?$/s.test(folded) || /^(\.git|git~1)[ .]*\\/s.test(folded);
}

/** @param path resolved, so a command's link cannot evade the check */
export function assertOutsideRepository(root: string, path: string): void {
  const name = relative(root, path).split('/').find(isDotGit);
  if (name !== undefined)
    throw new Refusal('EREPOSITORY', `${JSON.stringify(name)} belongs to git, or some file system treats it as .git`);
}
