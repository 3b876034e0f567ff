import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { outputsFolder } from '@holdpoint/contract';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { freezeDescendants, thawDescendants } from '../process/index.ts';
import type { Driver, ReadOnlyMount } from '../tree.ts';
import type { WalkUnreadable } from '../workspace-size/sizes.ts';
import { type LaunchDeps, launch } from './launch.ts';
import { holdpointDirectory } from './mounts.ts';
import { findOrphans } from './orphans.ts';

export function bubblewrapDriver(input: Omit<LaunchDeps, 'remapScript' | 'viewScript'>): Driver {
  const script = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const deps = { ...input, remapScript: script('mount-remap.sh'), viewScript: script('mount-view.sh') };
  return {
    name: 'bubblewrap',
    cgroupLimits: deps.cgroups?.limits ?? null,
    prepared: (command) => deps.spares.settled(command),
    spares: () => deps.spares.counts,
    async release() {
      await deps.spares.close();
      await deps.pipes.close();
      await deps.cgroups?.settled();
      await deps.starter.close();
    },
    start: (request) => launch(deps, request),
    findOrphans,
    freeze: (trees) => freezeDescendants(trees.flatMap(firstInside)),
    thaw: async (trees) => thawDescendants(trees.flatMap(firstInside)),
    walkUnreadable: deps.root ? undefined : walkUnreadableWith(deps.tools),
    root: () => '/workspace',
    outputs: () => outputsFolder,
    node: `${holdpointDirectory}/node/bin/node`,
    ripgrep: `${holdpointDirectory}/bin/rg`,
    toolHost: `${holdpointDirectory}/inside/tool-host/main.ts`,
    toolHostFiles: deps.mounts.toolHost,
    toolchains: deps.mounts.toolchains,
    pathInside,
  };
}

/**
 * The sandbox's first process, the reaper of all others. A tree recorded without its first process is still in the set-up, so its command
 * has not begun.
 */
function firstInside([, first]: readonly ProcessIdentity[]): ProcessIdentity[] {
  return first && isAlive(first) ? [first] : [];
}

function pathInside(path: string, files: readonly ReadOnlyMount[]): string {
  const mount = files.find(({ host }) => path === host || path.startsWith(`${host}/`));
  if (mount === undefined) throw new TypeError(`no mount has ${path}`);
  return mount.inside + path.slice(mount.host.length);
}

/** A tree with a longer walk counts as larger than any limit. */
const timeoutMs = 10_000;
const program = fileURLToPath(new URL('../workspace-size/print-walk.ts', import.meta.url));

/**
 * Measures a tree in a separate user namespace, where the worker's user may pass every directory of its own, whatever the mode. A chmod of
 * the directories would disturb a command relying on their modes.
 */
function walkUnreadableWith(tools: { bwrap: string }): WalkUnreadable {
  return (path, enough) =>
    new Promise((resolve) => {
      const namespace = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-drop', 'ALL'];
      const rights = ['--cap-add', 'CAP_DAC_READ_SEARCH', '--die-with-parent', '--ro-bind', '/', '/', '--'];
      execFile(
        tools.bwrap,
        [...namespace, ...rights, process.execPath, program, path, String(enough)],
        { env: {}, timeout: timeoutMs, killSignal: 'SIGKILL' },
        (error, stdout) => {
          const [bytes, unreadable] = stdout.split(' ');
          if (error?.killed) resolve(Number.POSITIVE_INFINITY);
          else resolve(error || unreadable !== 'false' ? null : Number(bytes));
        },
      );
    });
}
