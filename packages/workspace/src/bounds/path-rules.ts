import { readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, normalize } from 'node:path';

/** A directory with a rule for what lies in it. The deepest rule on the way to a path decides. */
export interface PathRule {
  path: string;
  /** `home`: open, but not as a whole, and not its dot folders. */
  kind: 'closed' | 'open' | 'home';
}

/** They hold the system, its state, or the kernel's view of it. */
const system = ['/etc', '/proc', '/sys', '/dev', '/boot', '/efi', '/run', '/usr', '/bin', '/sbin', '/lib', '/lib32']
  .concat(['/lib64', '/libx32', '/var', '/snap', '/nix', '/gnu', '/lost+found', '/System', '/Library', '/Applications'])
  .concat(['/private/etc', '/private/var']);

/** Places in them where people and build servers keep repositories and temporary files. */
const openInSystem = ['/var/tmp', '/var/www', '/var/srv', '/var/opt', '/var/mnt', '/dev/shm', '/run/media'].concat([
  '/var/folders',
  '/private/var/folders',
  '/private/var/tmp',
]);

/** Where Jenkins, GitLab Runner and Buildkite check repositories out. The rest of `/var/lib` is databases and keys. */
const workspaceOfService = /^\/var\/lib\/[^/]+\/(workspace|workspaces|builds)\/./;

/** These hold keys wherever they lie: a home may be where no list of users names it. */
const secretFolders = new Set(['.ssh', '.gnupg', '.aws', '.kube', '.password-store']);

const homeParents = ['/home', '/var/home', '/Users'];

/** All places with a rule, except the data directory. Homes are read each time: users come and go. */
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
 * Why a directory or file must not be read or written, by its real path; undefined when it may.
 * @param path absolute, without links
 */
export function reasonClosed(places: readonly PathRule[], path: string): string | undefined {
  if (path === '/') return 'it is the whole file system';
  const secret = path.split('/').find((name) => secretFolders.has(name));
  if (secret !== undefined) return `${secret} holds keys`;
  const place = places.filter((one) => isWithin(path, one.path)).sort((a, b) => b.path.length - a.path.length)[0];
  const held = places.find((one) => one.kind !== 'open' && one.path !== path && isWithin(one.path, path));
  switch (place?.kind) {
    case 'closed':
      return workspaceOfService.test(path) ? undefined : `${place.path} is a directory of the system`;
    case 'home': {
      if (path === place.path) return 'it is a home directory as a whole';
      const [top = ''] = path.slice(place.path.length + 1).split('/');
      if (top.startsWith('.')) return `${place.path}/${top} holds the settings and keys of a user`;
      break;
    }
    default:
      break;
  }
  return held === undefined ? undefined : `it contains ${held.path}`;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** From the list of users, not from HOME, which may name any directory. */
function ownHome(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    return [];
  }
}

const nobodyUid = 65_534;

/** The homes of root and of people. The homes of services lie in `/var` or `/usr`, and are closed with them. */
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
