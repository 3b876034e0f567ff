import { readFileSync, realpathSync } from 'node:fs';
import { unescapeOctal } from '@holdpoint/process/mountinfo';
import type { ViewRequest } from '../starter/protocol.ts';
import type { WorkspaceMount } from '../tree.ts';
import { quietBash } from './command-line.ts';
import type { HostTools } from './host-tools.ts';
import { identityOf } from './identity-of.ts';
import type { MountRemap } from './mount-remap.ts';
import { shownOfHost } from './profile.ts';

/*
 * A remap in a mount namespace that many sandboxes start from, instead of one that each makes for itself with four programs. bubblewrap
 * copies the namespace that it starts in, so it also has fewer mounts to copy and to read.
 */

const mountTable = '/proc/self/mountinfo';
/** What bubblewrap itself needs of the host: a procfs, and the devices that it shows. */
const forBwrap = ['/proc', ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)];

/** A view to ask the starter for. Two with the same key look the same from every sandbox. */
export interface MountView extends Omit<ViewRequest, 'kind' | 'id'> {
  key: string;
}

/**
 * Plans the view in which a remap's sandboxes start.
 *
 * Null where a view would not look like the host, or would hold what the host may want to unmount: a mount below one of the directories
 * (the tree of a run can be a mount), folders of a source, a directory that belongs to one workspace.
 *
 * @param input.needed everything that is mounted, and bubblewrap
 */
export function planMountView(
  tools: HostTools & { viewScript: string },
  input: { remap: MountRemap; needed: readonly string[]; workspace: WorkspaceMount },
): MountView | null {
  const { remap, needed, workspace } = input;
  const { sources, mountPoint, hostPath } = remap;
  if (!tools.unshare || !tools.nsenter || (workspace.sourceFolders ?? []).length > 0) return null;
  if (sources.includes(remap.realPath(workspace.path))) return null;
  const mounts = readMounts();
  const paths = [...needed.map(remap.realPath), ...[...shownOfHost, ...forBwrap].flatMap(realPathOf)];
  const relevant = mounts.filter(({ point }) => paths.some((path) => isWithin(path, point) || isWithin(point, path)));
  const isBelowSource = ({ point }: Mount) => sources.some((source) => point !== source && isWithin(point, source));
  if (relevant.some(isBelowSource)) return null;
  const shows = sources.map((source) => ({ path: hostPath(source), source, identity: identityOf(source) ?? 'gone' }));
  const kept = [...new Set(relevant.map(({ point }) => point))].filter((point) => point !== '/').sort();
  return {
    key: JSON.stringify([identityOf(mountPoint), shows, relevant.map(({ line }) => line)]),
    program: tools.unshare,
    args: [
      ...['--mount', '--propagation', 'private', '--', tools.bash, ...quietBash, '-c', tools.viewScript, 'holdpoint'],
      ...[mountPoint, ...sources, '--', ...kept],
    ],
    shows,
    trial: [
      tools.nsenter,
      ...[...enterOptions(workspace), '--', tools.bash, ...quietBash, '-c', trialScript, 'holdpoint'],
      ...[String(workspace.uid), String(workspace.gid), hostPath(tools.bwrap)],
    ],
  };
}

/**
 * Proves that nsenter of this host leaves nothing of root, supplementary groups included, and that the owner reaches bubblewrap.
 * Arguments: uid, gid, bubblewrap.
 */
const trialScript = String.raw`
status=$(</proc/self/status)
for line in "Uid:(.$1){4}" "Gid:(.$2){4}" Groups: CapPrm:.0+ CapAmb:.0+; do
  [[ $status =~ $'\n'$line[[:blank:]]*$'\n' ]] || exit 1
done
exec "$3" --version`;

/** Options of nsenter, without the namespace. */
export const enterOptions = ({ uid, gid }: { uid: number; gid: number }): string[] => [
  ...['--setgid', String(gid), '--setuid', String(uid)],
];

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
