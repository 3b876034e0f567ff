import { type FSWatcher, statfsSync, watch } from 'node:fs';
import { setImmediate as afterPolling } from 'node:timers';
import { setImmediate } from 'node:timers/promises';

/** Folders `objects/info` of a repository, and their events since. */
export interface InfoWatch extends Disposable {
  /** Whether no file with a pointer for git to another place was there, not even for a moment. False as well when the answer is unknown. */
  sawUpkeepAlone(): Promise<boolean>;
}

/** Files written by `git gc`, `repack` and `commit-graph`. They decide nothing about the places of git's reads. */
const upkeep = /^(packs(_\w{6})?|commit-graph(\.lock)?|commit-graphs)$/;

/** The file systems of Linux where this host sees every change: another host may change a network file system. */
const local = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

/** The kernel drops events above 16,384 in the queue, and libuv hides the loss. So many at once count as a change in all folders. */
const mostAtOnce = 4000;
let atOnce = 0;
let floods = 0;
/** How many watches a folder has: each of them gets every event. */
const watched = new Map<string, number>();

function forgetBurst(): void {
  atOnce = 0;
}

function countEvent(folder: string): void {
  if (atOnce === 0) afterPolling(forgetBurst).unref();
  atOnce += 1 / (watched.get(folder) ?? 1);
  if (atOnce > mostAtOnce) floods += 1;
}

/** Begins to watch before the folders are looked at. */
export function watchInfo(folders: readonly string[]): InfoWatch {
  const from = floods;
  const watchers: FSWatcher[] = [];
  let isSound = process.platform === 'linux';
  const doubt = (): void => {
    isSound = false;
  };
  try {
    for (const folder of folders) {
      if (!local.has(statfsSync(folder).type)) doubt();
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        countEvent(folder);
        if (name === null || !upkeep.test(name)) doubt();
      });
      watchers.push(watcher.on('error', doubt));
      watched.set(folder, (watched.get(folder) ?? 0) + 1);
      watcher.once('close', () => leave(folder));
    }
  } catch {
    doubt();
  }
  return {
    async sawUpkeepAlone() {
      // Events of the past wait in the kernel until the event loop polls.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      return isSound && floods === from;
    },
    [Symbol.dispose]: () => {
      for (const watcher of watchers) watcher.close();
    },
  };
}

function leave(folder: string): void {
  const left = (watched.get(folder) ?? 1) - 1;
  if (left === 0) watched.delete(folder);
  else watched.set(folder, left);
}
