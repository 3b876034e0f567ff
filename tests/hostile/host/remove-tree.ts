import { execFileSync } from 'node:child_process';

/** Removes a tree, including unreadable directories and paths over the maximum length, which Node's rm cannot remove. */
export function removeTree(path: string): void {
  execFileSync('chmod', ['-R', 'u+rwX', path]);
  execFileSync('rm', ['-rf', path]);
}
