import { execFileSync } from 'node:child_process';

/** Removes a tree whose directories a command may have closed to their owner. Node's own rm cannot name what lies deeper than a path may be long. */
export function removeTree(path: string): void {
  execFileSync('chmod', ['-R', 'u+rwX', path]);
  execFileSync('rm', ['-rf', path]);
}
