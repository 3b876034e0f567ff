import { type PreparedFrom, placeOf } from '@holdpoint/contract';
import type { Deps, RunFolder, WorkspaceRecord } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { createSelection } from '../source/import-context.ts';
import { type Folder, isFolder, type Leaf } from '../store/objects/index.ts';
import type { LoadedSnapshot } from '../tree/index.ts';

/**
 * The binding of a prepared entry. `tree`: all files of the source, the source's identity and its ref, because commands of a project read
 * any file. `inputs`: the files named by the operator. A project with code of its own in the install is bound to its tree in either case.
 */
export type Binding = 'tree' | 'inputs';

export async function bindingOf(
  deps: Pick<Deps, 'git' | 'preparedInputs'>,
  { folder, snapshot }: { folder: RunFolder; snapshot: Pick<LoadedSnapshot, 'root'> },
): Promise<Binding> {
  if (deps.preparedInputs === undefined) return 'tree';
  const { root } = snapshot;
  if (filesIn(root, createSelection({ include: runFiles, exclude: installed }).has).length > 0) return 'tree';
  const manifests = filesIn(root, createSelection({ include: ['package.json'], exclude: installed }).has);
  const oids = [...new Set(manifests.map(({ leaf }) => leaf.oid))];
  return (await someRunsCode(deps, folder.shadow, oids)) ? 'tree' : 'inputs';
}

async function someRunsCode(deps: Pick<Deps, 'git'>, gitDir: string, oids: readonly string[]): Promise<boolean> {
  let found = false;
  let pieces: Buffer[] = [];
  await streamBlobs(
    deps,
    { gitDir, oids },
    {
      begin: () => {
        pieces = [];
      },
      piece: (bytes) => void pieces.push(Buffer.from(bytes)),
      end: () => {
        found ||= runsCode(Buffer.concat(pieces).toString('utf8'));
      },
    },
  );
  return found;
}

const dependencies = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

/** Whether an install of this manifest runs or copies files of the project. A manifest other than JSON may do anything. */
function runsCode(text: string): boolean {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return true;
  }
  const scripts = fieldsOf(manifest, 'scripts');
  if (lifecycleScripts.some((name) => name in scripts)) return true;
  return dependencies.some((name) => Object.values(fieldsOf(manifest, name)).some(isOfProject));
}

/** A version in the form of a project's folder or archive. */
const isOfProject = (version: unknown): boolean =>
  typeof version !== 'string' || /^(file:|link:|portal:|workspace:|patch:|exec:|\.{0,2}\/)/.test(version);

function fieldsOf(value: unknown, name: string): object {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof fields === 'object' && fields !== null ? fields : {};
}

/** The wanted files of a tree, in byte order of their paths. */
export function filesIn(root: Folder, has: (path: string) => boolean): { path: string; leaf: Leaf }[] {
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

/** Manifests run by package managers, or naming a file to run: any other file read by them is an input, too. */
const runManifests = [
  ...['.pnpmfile.cjs', '.yarnrc.yml', 'setup.py', '*.gemspec', 'Gemfile', 'mix.exs'],
  ...['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
];
const runFiles = [...runManifests, 'binding.gyp', 'build.rs'];

/** Files with a package manager's list of installed packages, in any folder. */
export const wellKnown = [
  ...runManifests,
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
  ...['bun.lock', 'bun.lockb', '.npmrc', '.yarnrc', 'lerna.json', 'deno.lock'],
  ...['requirements*.txt', 'requirements*.in', 'constraints*.txt', 'pyproject.toml', 'poetry.lock', 'uv.lock'],
  ...['pdm.lock', 'Pipfile', 'Pipfile.lock', 'setup.cfg', 'pip.conf', 'environment.yml', 'tox.ini'],
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
  ...['Gemfile.lock', 'composer.json', 'composer.lock', 'mix.lock', 'pom.xml', 'gradle.lockfile'],
  ...['.nvmrc', '.node-version', '.python-version', '.ruby-version', '.tool-versions', 'mise.toml', '.mise.toml'],
];
/** Folders of installed packages. Where they are committed, their files decide as well. */
export const installed = ['node_modules', '.venv', 'venv', 'vendor', 'target', '.tox', '.yarn', '.pnpm-store'];

/** Scripts of a `package.json` run by an install. */
const lifecycleScripts = [
  ...['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish', 'dependencies'],
];

/** The ref named by a run; null for a source without refs. */
export const refOf = ({ source }: WorkspaceRecord): string | null =>
  source.type === 'git' ? (source.ref ?? 'HEAD') : null;

/** The origin of an entry, for people. */
export function madeFrom(
  record: WorkspaceRecord,
  { tree }: Pick<LoadedSnapshot, 'tree'>,
  { binding, at }: { binding: Binding; at: number },
): PreparedFrom {
  const { source, run_id, base_commit } = record;
  return {
    ...{ run_id, at: new Date(at).toISOString(), source: source.type === 'empty' ? null : placeOf(source) },
    ...{ ref: refOf(record), commit: base_commit, tree, bound_to: binding },
  };
}
