import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

/** Names of files and directories with keys, tokens or passwords. */
const secretNames = new Set([
  ...['.ssh', '.gnupg', '.aws', '.azure', '.gcloud', '.kube', '.docker', '.password-store', 'keyrings', '.mozilla'],
  ...['.netrc', '_netrc', '.npmrc', '.yarnrc', '.pypirc', '.pgpass', '.my.cnf', '.git-credentials'],
  ...['.vault-token', '.s3cfg'],
  ...['credentials', 'credentials.toml', 'credentials.json', '.credentials.json', 'credentials.tfrc.json', '.env'],
  ...['id_rsa', 'id_ecdsa', 'id_ed25519', 'id_dsa', 'login.keyring', 'kubeconfig', '.dockercfg', '.boto'],
]);
/** Names of files found only in a home directory. */
const homeNames = new Set(['.bashrc', '.profile', '.bash_profile', '.zshrc', '.bash_history', '.zsh_history']);
/** Parts of a directory such as ~/.cargo or ~/.local, as needed by programs. */
const parts = ['bin', 'lib', 'libexec', 'registry'];
/** Enough to find ~/.local/share/keyrings from ~/.local, and ~/.ssh from /home. Deeper, packages have harmless files of these names. */
const maxDepth = 2;

/** Reason to hide a directory from sandboxes, as the end of a sentence. Null when sandboxes may see the directory. */
export function whySecret(path: string): string | null {
  const real = realOf(path);
  if (homes().includes(real)) return 'is a home directory';
  const names = namesIn(real);
  if (names.some((name) => homeNames.has(name))) return 'looks like a home directory';
  const secret = findSecret(real, maxDepth);
  return secret === null ? null : `contains ${relative(real, secret)}`;
}

/**
 * Directories with a toolchain and without secrets: the whole directory, or the parts needed by programs. A dot directory of a home is
 * never mounted whole, because programs may store keys there later.
 */
export function showableParts(directory: string): string[] {
  const isDotDirectory = basename(directory).startsWith('.') && homes().includes(realOf(dirname(directory)));
  if (!isDotDirectory && whySecret(directory) === null) return [directory];
  const names = namesIn(directory);
  return parts
    .filter((part) => names.includes(part))
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
    // Not every system has the file.
  }
  return [...new Set([homedir(), ...listed])].map(realOf);
}

/** Empty for anything but a readable directory. */
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
