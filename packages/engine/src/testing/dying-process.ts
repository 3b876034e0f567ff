import type { WorkerDeps } from '../deps.ts';
import { tapCommands } from './tap-commands.ts';

/** Stands for SIGKILL: nothing after it happens. */
export class Died extends Error {
  override name = 'Died';
}

/** The same deps, whose process dies at the n-th command to Redis: before it is sent, or after it took effect. */
export function dyingAt(
  deps: WorkerDeps,
  n: number,
  when: 'before' | 'after',
): { deps: WorkerDeps; died: () => boolean } {
  let isDead = false;
  const dying = tapCommands(deps, async (command, send) => {
    if (isDead || (command === n && when === 'before')) {
      isDead = true;
      throw new Died();
    }
    const result = await send();
    if (command === n) isDead = true;
    if (isDead) throw new Died();
    return result;
  });
  return { deps: dying, died: () => isDead };
}
