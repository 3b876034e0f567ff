import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Remote } from '@holdpoint/contract';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { mountAliases, rebasePath } from './mounts.ts';
import { isWithin, listPathRules, type PathRule, reasonClosed } from './path-rules.ts';
import { assertRemote, defaultHosts } from './remote-hosts.ts';

export { isWithin };

/** Limits the paths of sources and publishes, for every submitter. */
export interface Bounds {
  /**
   * Throws when a path is out of bounds. Links, mounts and `/proc` are resolved first.
   * @param path absolute, must exist
   * @param use a publish also reads, so `publish` checks both bounds
   */
  assert(path: string, use: Use): void;
  /** Opens a directory or file and checks the opened object: a later replacement of the path has no effect. */
  open(path: string, use: Use): OpenPath;
  /** Throws for a remote whose host is not open. Contacts nothing. */
  assertRemote(remote: Remote): void;
}

export type Use = 'source' | 'publish';

/** An open directory or file. The object stays open when its path is replaced. */
export interface OpenPath {
  /** A path for this process and its children while the object is open. */
  readonly path: string;
  /** Its real path at the time of the open. */
  readonly real: string;
  [Symbol.dispose](): void;
}

/** The operator's settings. When undefined, every path is allowed unless a path rule closes the path. */
export interface Roots {
  sourceRoots?: readonly string[] | undefined;
  publishRoots?: readonly string[] | undefined;
  /** Hosts of remote repositories; see `RemoteHosts`. @default every public host by https */
  gitHosts?: readonly string[] | undefined;
}

/** @param input.dataDir real path */
export function createBounds({
  dataDir,
  sourceRoots,
  publishRoots,
  gitHosts: hosts = defaultHosts,
}: Roots & { dataDir: string }): Bounds {
  const assertReal = (real: string, use: Use, asked: string): void => {
    const resolved = resolvePath(real, asked);
    if (isBelow(resolved, dataDir)) {
      throw new WorkspaceError('ESOURCEINDATADIR', `${asked} is in the data directory.`);
    }
    const reason = reasonAgainst(resolved);
    if (reason !== undefined) throw refusal(use, `${describePath(resolved)} is never open to runs: ${reason}.`);
    assertRoots(resolved, use, sourceRoots, 'HOLDPOINT_SOURCE_ROOTS');
    if (use === 'publish') assertRoots(resolved, use, publishRoots, 'HOLDPOINT_PUBLISH_ROOTS');
  };
  return {
    assertRemote: (remote) => assertRemote(remote, { hosts }),
    assert: (path, use) => assertReal(realpathSync(path), use, path),
    open: (path, use) => {
      const opened = openPath(path);
      try {
        assertReal(opened.real, use, path);
        return opened;
      } catch (error) {
        opened[Symbol.dispose]();
        throw error;
      }
    },
  };
}

interface ResolvedPath {
  real: string;
  /** The real path and its other paths through mounts. */
  aliases: readonly string[];
  /** Device and inode of the path and of every parent directory. */
  above: readonly string[];
  asked: string;
}

const describePath = ({ real, asked }: ResolvedPath): string => (real === asked ? asked : `${asked} (${real})`);

const refusal = (use: Use, message: string): WorkspaceError =>
  new WorkspaceError(use === 'source' ? 'ESOURCEFORBIDDEN' : 'EPUBLISHFORBIDDEN', message);

function resolvePath(real: string, asked: string): ResolvedPath {
  const above = foldersAbove(real);
  return { real, asked, aliases: [real, ...mountAliases(real)], above: above.map(({ identity }) => identity) };
}

function reasonAgainst({ real, aliases }: ResolvedPath): string | undefined {
  const rules = withRealPaths(listPathRules());
  for (const path of [...aliases, ...aliasesByIdentity(rules, real)]) {
    const reason = reasonClosed(rules, path);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** A rule for a link also applies to its target: `/root` and `/var/roothome`, `/lib` and `/usr/lib`. */
function withRealPaths(rules: readonly PathRule[]): PathRule[] {
  return rules.flatMap((one) => {
    const real = realOf(one.path);
    return real === undefined || real === one.path ? [one] : [one, { ...one, path: real }];
  });
}

/** Compares the parents of a path with the rules by device and inode: a rule also matches under another name. */
function aliasesByIdentity(rules: readonly PathRule[], real: string): string[] {
  const byIdentity = new Map(rules.map(({ path }) => [identityOf(path), path]));
  return foldersAbove(real).flatMap(({ path, identity }) => {
    const named = byIdentity.get(identity);
    return named === undefined || named === path ? [] : [rebasePath(named, real, path)];
  });
}

function assertRoots(resolved: ResolvedPath, use: Use, roots: readonly string[] | undefined, setting: string): void {
  if (roots === undefined || roots.some((root) => isBelow(resolved, realOf(root) ?? root))) return;
  throw refusal(use, `${describePath(resolved)} is outside ${setting} (${roots.join(':')}).`);
}

function isBelow({ aliases, above }: ResolvedPath, folder: string): boolean {
  const identity = identityOf(folder);
  return aliases.some((path) => isWithin(path, folder)) || (identity !== undefined && above.includes(identity));
}

/** The path first, then every parent directory. */
function foldersAbove(real: string): { path: string; identity: string }[] {
  const folders: { path: string; identity: string }[] = [];
  for (let path = real; ; path = dirname(path)) {
    const identity = identityOf(path);
    if (identity !== undefined) folders.push({ path, identity });
    if (path === '/') return folders;
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function openPath(path: string): OpenPath {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const close = { [Symbol.dispose]: () => closeSync(fd) };
  try {
    // By pid, not `self`: children get the path, too.
    const own = `/proc/${process.pid}/fd/${fd}`;
    const real = realOfOpen(own) ?? realpathSync(path);
    const [seen, opened] = [statSync(real, { bigint: true }), fstatSync(fd, { bigint: true })];
    if (seen.dev !== opened.dev || seen.ino !== opened.ino) {
      throw new WorkspaceError('ESOURCEBUSY', `${path} was moved during the check.`);
    }
    return { path: process.platform === 'linux' ? own : real, real, ...close };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function realOfOpen(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
