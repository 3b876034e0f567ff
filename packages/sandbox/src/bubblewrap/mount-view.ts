import { readFileSync, realpathSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { unescapeOctal } from '@holdpoint/process/mountinfo';
import type { ViewRequest } from '../starter/protocol.ts';
import type { WorkspaceMount } from '../tree.ts';
import type { HostTools } from './host-tools.ts';
import type { MountRemap } from './mount-remap.ts';
import { quietBash, shownOfHost } from './profile.ts';
import { isFilterArchitecture, syscallTables } from './syscall-table.ts';

/*
 * A view is a mount namespace with the mounts of a remap, shared by many sandboxes. Without a view each sandbox runs four programs to make
 * a namespace of its own. bubblewrap copies its initial namespace, and a view has fewer mounts to copy and to read.
 */

const mountTable = '/proc/self/mountinfo';
/** Host paths required by bubblewrap: a procfs, and the devices shown in sandboxes. */
const forBwrap = ['/proc', ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)];

/** A view for the starter to make. Two views with the same key look the same from every sandbox. */
export interface MountView extends Omit<ViewRequest, 'kind' | 'id'> {
  key: string;
  /** A program to enter the view, take the owner's uid and execute the next program. The option with the view's name precedes `args`. */
  enter: { program: string; lead: string[]; args: string[] };
}

/**
 * Plans the view for a remap's sandboxes to start in.
 *
 * A view never holds a mount that the host may want to unmount. When the tree of a run is a mount, each sandbox of the run adds the tree to
 * its own copy of the view (`enter-with-tree.pl`). Null when the workspace has source folders, when the tree is a source of the remap, when
 * a source contains a mount outside the tree, or when a needed program is missing.
 *
 * @param input.needed all host paths to be mounted, and bubblewrap
 */
export function planMountView(
  tools: HostTools & { viewScript: string },
  input: { remap: MountRemap; needed: readonly string[]; workspace: WorkspaceMount },
): MountView | null {
  const { remap, needed, workspace } = input;
  const { sources, mountPoint, hostPath } = remap;
  if (!tools.unshare || !tools.nsenter || (workspace.sourceFolders ?? []).length > 0) return null;
  const tree = remap.realPath(workspace.path);
  if (sources.includes(tree)) return null;
  const mounts = readMounts();
  const paths = [...needed.map(remap.realPath), ...[...shownOfHost, ...forBwrap].flatMap(realPathOf)];
  const relevant = mounts.filter(({ point }) => paths.some((path) => isWithin(path, point) || isWithin(point, path)));
  const isBelowSource = ({ point }: Mount) => sources.some((source) => point !== source && isWithin(point, source));
  const below = relevant.filter(isBelowSource);
  const enter =
    below.length === 0 ? enterAlone(tools.nsenter, workspace) : enterWithTree(tools.perl, { remap, workspace });
  if (enter === null || below.some(({ point }) => !isWithin(point, tree))) return null;
  const lasting = relevant.filter((mount) => !below.includes(mount));
  const shows = sources.map((source) => ({ path: hostPath(source), source, identity: identityOf(source) ?? 'gone' }));
  const kept = [...new Set(lasting.map(({ point }) => point))].filter((point) => point !== '/').sort();
  return {
    key: JSON.stringify([enter.program, identityOf(mountPoint), shows, lasting.map(({ line }) => line)]),
    enter,
    program: tools.unshare,
    args: [
      ...['--mount', '--propagation', 'private', '--', tools.bash, ...quietBash, '-c', tools.viewScript, 'holdpoint'],
      ...[mountPoint, ...sources, '--', ...kept],
    ],
    shows,
    trial: {
      ...enter,
      args: [
        ...[...enter.args, tools.bash, ...quietBash, '-c', trialScript, 'holdpoint'],
        ...[String(workspace.uid), String(workspace.gid), hostPath(tools.bwrap)],
      ],
    },
  };
}

type Enter = MountView['enter'];

const enterAlone = (nsenter: string, { uid, gid }: WorkspaceMount): Enter => ({
  ...{ program: nsenter, lead: [], args: ['--setgid', String(gid), '--setuid', String(uid), '--'] },
});

const treeProgram = fileURLToPath(new URL('enter-with-tree.pl', import.meta.url));
const treeCalls = [
  'open_tree',
  'move_mount',
  'mount_setattr',
  'setns',
  'unshare',
  'setgroups',
  'setresgid',
  'setresuid',
];

/** Null where the host has no Perl, or an unknown architecture. */
function enterWithTree(
  perl: string | null,
  { remap, workspace }: { remap: MountRemap; workspace: WorkspaceMount },
): Enter | null {
  if (perl === null || !isFilterArchitecture(process.arch)) return null;
  const { numbers } = syscallTables[process.arch];
  const { path, uid, gid } = workspace;
  return {
    program: perl,
    lead: [treeProgram],
    args: [
      ...treeCalls.map((name) => numbers.get(name) ?? -1),
      remap.realPath(path),
      remap.hostPath(path),
      uid,
      gid,
    ].map(String),
  };
}

/**
 * Proves that a program in a view has no capability, uid, gid or supplementary group of root, and that the owner reaches bubblewrap.
 * Arguments: uid, gid, bubblewrap.
 */
const trialScript = String.raw`
status=$(</proc/self/status)
for line in "Uid:(.$1){4}" "Gid:(.$2){4}" Groups: CapPrm:.0+ CapAmb:.0+; do
  [[ $status =~ $'\n'$line[[:blank:]]*$'\n' ]] || exit 1
done
exec "$3" --version`;

interface Mount {
  line: string;
  point: string;
}

let last: { text: string; mounts: readonly Mount[] } | undefined;

/** Parsed again only when something was mounted or unmounted. */
function readMounts(): readonly Mount[] {
  const text = readFileSync(mountTable, 'latin1');
  if (last?.text !== text) {
    const mounts = text.split('\n').flatMap((line): Mount[] => {
      const point = line.split(' ')[4];
      return point === undefined ? [] : [{ line, point: unescapeOctal(point) }];
    });
    last = { text, mounts };
  }
  return last.mounts;
}

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);

function realPathOf(path: string): string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return []; // this host has no such path
  }
}

/**
 * Device, inode and birth time of the file at a path. The kernel may reuse an inode number, but with another birth time. Null when the file
 * is gone.
 */
export function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? [found.dev, found.ino, found.birthtimeNs].join() : null;
}
