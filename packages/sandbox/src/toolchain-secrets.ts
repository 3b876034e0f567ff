import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

/** Names of files and directories that hold keys, tokens or passwords. */
const secretNames = new Set([
  ...['.ssh', '.gnupg', '.aws', '.azure', '.gcloud', '.kube', '.docker', '.password-store', 'keyrings', '.mozilla'],
  ...[
    '.netrc',
    '_netrc',
    '.npmrc',
    '.yarnrc',
    '.pypirc',
    '.pgpass',
    '.my.cnf',
    '.git-credentials',
    '.vault-token',
    '.s3cfg',
  ],
  ...['credentials', 'credentials.toml', 'credentials.json', '.credentials.json', 'credentials.tfrc.json', '.env'],
  ...['id_rsa', 'id_ecdsa', 'id_ed25519', 'id_dsa', 'login.keyring', 'kubeconfig', '.dockercfg', '.boto'],
]);
/** Only a home has them. */
const homeNames = new Set(['.bashrc', '.profile', '.bash_profile', '.zshrc', '.bash_history', '.zsh_history']);
/** The parts of a directory such as ~/.cargo or ~/.local that programs are made of. */
const parts = ['bin', 'lib', 'libexec', 'registry'];
/** ~/.local/share/keyrings is found from ~/.local, ~/.ssh from /home. Deeper, packages bring files of these names that hold nothing. */
const DEPTH = 2;

/** Why a directory must not be shown to sandboxes, as the end of a sentence; null when nothing speaks against it. */
export function whySecret(path: string): string | null {
  const real = realOf(path);
  if (homes().includes(real)) return 'is a home directory';
  const names = namesIn(real);
  if (names.some((name) => homeNames.has(name))) return 'looks like a home directory';
  const secret = findSecret(real, DEPTH);
  return secret === null ? null : `holds ${relative(real, secret)}`;
}

/**
 * The directories that show a toolchain and no secrets beside it: the directory, or those of its parts that programs are made of. A dot
 * directory of a home is never shown whole, because programs keep their keys there, too, if not today.
 */
export function showableParts(directory: string): string[] {
  const isDotDirectory = basename(directory).startsWith('.') && homes().includes(realOf(dirname(directory)));
  if (!isDotDirectory && whySecret(directory) === null) return [directory];
  const there = namesIn(directory);
  return parts
    .filter((part) => there.includes(part))
    .map((part) => join(directory, part))
    .filter((part) => whySecret(part) === null);
}

function findSecret(directory: string, depth: number): string | null {
  const names = namesIn(directory);
  const found = names.find((name) => secretNames.has(name));
  if (found !== undefined) return join(directory, found);
  if (depth === 0) return null;
  for (const name of names) {
    const below = findSecret(join(directory, name), depth - 1);
    if (below !== null) return below;
  }
  return null;
}

function homes(): string[] {
  let listed: string[] = [];
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    listed = lines
      .flatMap((line) => line.split(':')[5] || [])
      .filter((home) => home.startsWith('/home/') || home === '/root');
  } catch {
    // not every system has the file
  }
  return [...new Set([homedir(), ...listed])].map(realOf);
}

/** Empty for anything but a directory that can be read. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
