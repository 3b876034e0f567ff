import { readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, normalize } from 'node:path';

/** A rule for everything below a directory. For a path, the deepest matching rule decides. */
export interface PathRule {
  path: string;
  /** `home`: open, except the home directory and its dot folders. */
  kind: 'closed' | 'open' | 'home';
}

/** The system, its state, and the kernel's file systems. */
const system = ['/etc', '/proc', '/sys', '/dev', '/boot', '/efi', '/run', '/usr', '/bin', '/sbin', '/lib', '/lib32']
  .concat(['/lib64', '/libx32', '/var', '/snap', '/nix', '/gnu', '/lost+found', '/System', '/Library', '/Applications'])
  .concat(['/private/etc', '/private/var']);

/** Directories inside them where people and build servers keep repositories and temporary files. */
const openInSystem = ['/var/tmp', '/var/www', '/var/srv', '/var/opt', '/var/mnt', '/dev/shm', '/run/media'].concat([
  '/var/folders',
  '/private/var/folders',
  '/private/var/tmp',
]);

/** Checkouts of Jenkins, GitLab Runner and Buildkite. The rest of `/var/lib` is databases and keys. */
const workspaceOfService = /^\/var\/lib\/[^/]+\/(workspace|workspaces|builds)\/./;

/** Closed everywhere, because a home may be missing in the list of users. */
const secretFolders = new Set(['.ssh', '.gnupg', '.aws', '.kube', '.password-store']);

const homeParents = ['/home', '/var/home', '/Users'];

/** All rules except the data directory's. Homes are read on every call, because users are added and removed. */
export function listPathRules(): PathRule[] {
  const people = [...ownHome(), '/root', '/var/roothome', ...homesOfPeople(), ...homeParents.flatMap(foldersIn)];
  const homes = new Set(people.map((path) => normalize(path).replace(/(?<=.)\/$/, '')).filter(mayBeHome));
  return [
    { path: '/', kind: 'open' },
    ...system.map((path): PathRule => ({ path, kind: 'closed' })),
    ...openInSystem.map((path): PathRule => ({ path, kind: 'open' })),
    ...[...homes].map((path): PathRule => ({ path, kind: 'home' })),
  ];
}

/**
 * The reason to close a directory or file to reads and writes; undefined for an open path.
 * @param path absolute, without links
 */
export function reasonClosed(rules: readonly PathRule[], path: string): string | undefined {
  if (path === '/') return 'it is the whole file system';
  const secret = path.split('/').find((name) => secretFolders.has(name));
  if (secret !== undefined) return `${secret} holds keys`;
  const rule = rules.filter((one) => isWithin(path, one.path)).sort((a, b) => b.path.length - a.path.length)[0];
  const inner = rules.find((one) => one.kind !== 'open' && one.path !== path && isWithin(one.path, path));
  switch (rule?.kind) {
    case 'closed':
      return workspaceOfService.test(path) ? undefined : `${rule.path} is a directory of the system`;
    case 'home': {
      if (path === rule.path) return 'it is a home directory as a whole';
      const [top = ''] = path.slice(rule.path.length + 1).split('/');
      if (top.startsWith('.')) return `${rule.path}/${top} holds the settings and keys of a user`;
      break;
    }
    default:
      break;
  }
  return inner === undefined ? undefined : `it contains ${inner.path}`;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** From the list of users, not from HOME: HOME may name any directory. */
function ownHome(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    return [];
  }
}

const nobodyUid = 65_534;

/** The homes of root and of people. The homes of services are in `/var` or `/usr` and closed with them. */
function homesOfPeople(): string[] {
  let rows: string[];
  try {
    rows = readFileSync('/etc/passwd', 'utf8').split('\n');
  } catch {
    return [];
  }
  return rows.flatMap((row) => {
    const [, , id = '', , , home = ''] = row.split(':');
    const uid = Number(id);
    return home.startsWith('/') && (uid === 0 || (uid >= 1000 && uid !== nobodyUid)) ? [home] : [];
  });
}

/** An account whose home is a system directory opens nothing. */
const mayBeHome = (path: string): boolean =>
  path !== '/' &&
  path.startsWith('/') &&
  !system.some((one) => path === one || (one !== '/var' && isWithin(path, one)));

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path).map((name) => join(path, name));
  } catch {
    return [];
  }
}
