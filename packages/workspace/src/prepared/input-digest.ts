import { createHash, type Hash } from 'node:crypto';
import type { Call, Deps } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { createSelection } from '../materialise/selection.ts';
import { requireRecord, runFolder } from '../run/index.ts';
import { type Folder, isFolder, type Leaf, loadSnapshot } from '../tree/index.ts';

/** Files that say what a package manager installs, in any folder. */
const wellKnown = [
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
  ...['bun.lock', 'bun.lockb', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'lerna.json', 'deno.lock'],
  ...[
    'requirements*.txt',
    'requirements*.in',
    'constraints*.txt',
    'pyproject.toml',
    'poetry.lock',
    'uv.lock',
    'pdm.lock',
  ],
  ...['Pipfile', 'Pipfile.lock', 'setup.py', 'setup.cfg', 'pip.conf', 'environment.yml', 'tox.ini'],
  ...[
    'go.mod',
    'go.sum',
    'go.work',
    'go.work.sum',
    'Cargo.toml',
    'Cargo.lock',
    'rust-toolchain',
    'rust-toolchain.toml',
  ],
  ...['Gemfile', 'Gemfile.lock', '*.gemspec', 'composer.json', 'composer.lock', 'mix.exs', 'mix.lock'],
  ...['pom.xml', 'build.gradle', 'build.gradle.kts', 'gradle.lockfile', 'settings.gradle', 'settings.gradle.kts'],
  ...['.nvmrc', '.node-version', '.python-version', '.ruby-version', '.tool-versions', 'mise.toml', '.mise.toml'],
];
/** Their files are what was installed, and not what is to be. */
const installed = ['node_modules', '.venv', 'venv', 'vendor', 'target', '.tox', '.git'];

/**
 * The digest of the files that decide what `prepare` makes, with their paths and modes.
 * @param input.globs @default manifests and lock files; when there are none, every file counts
 */
export async function inputDigest(deps: Deps, input: Call<'inputDigest'>): Promise<string> {
  const folder = runFolder(deps.dataDir, input.runId);
  requireRecord(folder);
  const { root, tree } = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: input.snapshot });
  const globs = input.globs === undefined ? { include: wellKnown, exclude: installed } : { include: input.globs };
  const selection = createSelection(globs);
  const found = filesIn(root, selection.has);
  const hash = createHash('sha256');
  if (found.length === 0) return hash.update(input.globs === undefined ? `tree ${tree}` : 'nothing').digest('hex');
  const digests = await contentDigests(deps, folder.shadow, [...new Set(found.map(({ leaf }) => leaf.oid))]);
  for (const { path, leaf } of found) hash.update(JSON.stringify([path, leaf.mode, digests.get(leaf.oid)]));
  return hash.digest('hex');
}

/** @throws WorkspaceError EGLOBINVALID */
export const checkInputs = (globs: readonly string[]): void => void createSelection({ include: globs });

function filesIn(root: Folder, has: (path: string) => boolean): { path: string; leaf: Leaf }[] {
  const found: { path: string; leaf: Leaf }[] = [];
  const visit = (folder: Folder, path: string): void => {
    for (const [name, entry] of folder.entries) {
      const below = path === '' ? name : `${path}/${name}`;
      if (isFolder(entry)) visit(entry, below);
      else if (has(below)) found.push({ path: below, leaf: entry });
    }
  };
  visit(root, '');
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** SHA-256, because the author of the files could make two blobs with one SHA-1. */
async function contentDigests(deps: Deps, gitDir: string, oids: readonly string[]): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  let hash: Hash = createHash('sha256');
  let current = '';
  await streamBlobs(
    deps,
    { gitDir, oids },
    {
      begin: (index) => {
        current = oids[index] ?? '';
        hash = createHash('sha256');
      },
      piece: (bytes) => void hash.update(bytes),
      end: () => void digests.set(current, hash.digest('hex')),
    },
  );
  return digests;
}
