import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { identify, isAlive, type ProcessIdentity } from '@holdpoint/process';
import { listNames, removeEmpty, removeFile, renameIfThere, workspaceDirectory, writeInto } from './state-files.ts';

/** One act that wants a workspace's labelled commands to stand still. */
export interface Hold {
  directory: string;
  /** Of its file, without what says how far it is. */
  name: string;
}

/**
 * Who wants labelled commands to stand still, as files that every worker of the host sees: `<pid>-<start>-<uuid>.hold`, which becomes
 * `.waking` while its owner lets them go on. Those of workers that are gone hold nothing.
 */
export class Holds {
  readonly #stateDir: string;
  readonly #owner: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#owner = `${process.pid}-${identify(process.pid)?.start ?? 0}`;
  }

  /** From now on no labelled command of the workspace begins. */
  place(workspaceId: string): Hold {
    const hold = {
      directory: workspaceDirectory(this.#stateDir, workspaceId),
      name: `${this.#owner}-${randomUUID()}`,
    };
    writeInto(join(hold.directory, `${hold.name}.hold`), '');
    return hold;
  }

  isHeld(workspaceId: string): boolean {
    return this.#has(workspaceDirectory(this.#stateDir, workspaceId), 'hold');
  }

  /** Whether a worker that held the workspace's commands has died: what it stopped stays so until the next act wakes it. */
  areAbandoned(workspaceId: string): boolean {
    return this.abandoned(workspaceId).length > 0;
  }

  /** The files of workers that died. They stay until the commands were woken: without them nobody would know that these are stopped. */
  abandoned(workspaceId: string): string[] {
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
    return listNames(directory)
      .filter((name) => (name.endsWith('.hold') || name.endsWith('.waking')) && !isAlive(ownerOf(name)))
      .map((name) => join(directory, name));
  }

  /** Whether somebody lets them go on at this moment, who may not have seen a hold that was placed after he had looked. */
  areWaking(hold: Hold): boolean {
    return this.#has(hold.directory, 'waking');
  }

  /** Ends the hold. Whether it was the last one, whose owner lets them go on and then calls `end`. */
  beginWaking(hold: Hold): boolean {
    const path = join(hold.directory, hold.name);
    // A new holder who looks before this waits until we are done; one whom we do not see below has not looked yet. It was revoked when a
    // worker that was stopped for long goes on: what it has stopped since must go on all the same.
    if (!renameIfThere(`${path}.hold`, `${path}.waking`)) writeInto(`${path}.waking`, '');
    if (!this.#has(hold.directory, 'hold')) return true;
    this.end(hold);
    return false;
  }

  /** Forgets all holds of a workspace of which nothing runs any more: a worker that is itself stopped would keep what runs next from it. */
  revoke(workspaceId: string): void {
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
    for (const name of listNames(directory)) {
      if (name.endsWith('.hold') || name.endsWith('.waking')) removeFile(join(directory, name));
    }
    removeEmpty(directory);
  }

  /** @param woken what `abandoned` named before the commands were woken */
  end(hold: Hold, woken: readonly string[] = []): void {
    for (const path of woken) removeFile(path);
    removeFile(join(hold.directory, `${hold.name}.waking`));
    removeEmpty(hold.directory);
  }

  #has(directory: string, stage: 'hold' | 'waking'): boolean {
    return listNames(directory).some((name) => {
      return name.endsWith(`.${stage}`) && isAlive(ownerOf(name));
    });
  }
}

function ownerOf(name: string): ProcessIdentity {
  const [pid = 0, start = 0] = name.split('-').map(Number);
  return { pid, start };
}
