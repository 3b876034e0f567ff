import { chownSync, mkdirSync, renameSync, rmdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, WorkspaceError } from '../../deps.ts';
import { removeFolder } from '../../files/index.ts';
import type { Sharing, TreesSetting } from '../../port/sharing.ts';
import { makingFolder, temporaryPath } from '../../run-folder/index.ts';
import { mountOverlay, unmountIn } from './mounts.ts';

/**
 * With 3 files a run, a fork and a take-over on a layer compute about as long as on copies, and with 60 files two thirds. A mount costs
 * each new sandbox: every new mount namespace copies all mounts of the host.
 */
const worthwhile = 50;

export function createSharing(input: { setting: TreesSetting; dataDir: string }): Sharing {
  let tried: Promise<string | undefined> | undefined;
  const reason = () => {
    tried ??= input.setting === 'copy' ? Promise.resolve('HOLDPOINT_LAYERS is copy') : tryOnce(input);
    return tried;
  };
  return {
    leastFiles: input.setting === 'always' ? 0 : worthwhile,
    reason,
    usable: async () => (await reason()) === undefined,
  };
}

const trials = new Map<string, Promise<string | undefined>>();

/** Once per file system and process. */
function tryOnce(input: { dataDir: string }): Promise<string | undefined> {
  // The kernel gives the device number of an unmounted file system to another file system.
  const fileSystem = `${statSync(input.dataDir).dev} ${statfsSync(input.dataDir).type}`;
  const trial = trials.get(fileSystem) ?? tryMount(input);
  trials.set(fileSystem, trial);
  return trial;
}

/** Mounts a small overlay in the way of trees, and uses the mount. @returns the reason of a failure */
async function tryMount({ dataDir }: { dataDir: string }): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'only Linux has overlay mounts';
  if (process.getuid?.() !== 0) return 'the worker does not run as root';
  const made = mkdirSync(makingFolder(dataDir), { recursive: true, mode: 0o700 });
  const path = temporaryPath({ dataDir }, 'layer-trial');
  const at = (name: string) => join(path, name);
  const owner = { uid: 65_432, gid: 65_432 };
  try {
    for (const name of ['', 'layer', 'layer/folder', 'upper', 'work', 'tree', 'again']) {
      mkdirSync(at(name), { recursive: true, mode: 0o755 });
    }
    writeFileSync(at('layer/folder/file'), '');
    chownSync(at('upper'), owner.uid, owner.gid);
    const mount = { layer: at('layer'), upper: at('upper'), work: at('work'), target: at('tree'), owner };
    await mountOverlay(mount);
    renameSync(at('tree/folder'), at('tree/moved'));
    const { uid, gid, ino } = statSync(at('tree/moved/file'));
    if (uid !== owner.uid || gid !== owner.gid) return 'the kernel does not map the owners of a layer';
    if (ino !== statSync(at('layer/folder/file')).ino) return 'the file system does not keep inode numbers';
    // Without this check, two mounts of the same tree could destroy each other's files.
    const second = await mountOverlay({ ...mount, target: at('again'), rounds: 1 }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const isRefused = second instanceof WorkspaceError && second.code === 'EWORKSPACEBUSY';
    return isRefused ? undefined : 'the kernel does not keep a tree from being mounted twice';
  } catch (error) {
    if (!(error instanceof WorkspaceError) && errnoOf(error) === undefined) throw error;
    return `overlay mounts do not work here (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    await unmountIn(path).catch(() => {});
    rmSync(at('work/work'), { recursive: true, force: true });
    await removeFolder(path).catch(() => {});
    // A look at a data directory without runs leaves nothing.
    if (made !== undefined) removeEmpty(made);
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // A run is being made.
  }
}
