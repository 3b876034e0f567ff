import type { Deps, RunFolder } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { createSelection } from '../source/selection.ts';
import type { LoadedSnapshot } from '../tree/index.ts';
import { filesIn } from './files-in.ts';
import { installed, lifecycleScripts, runFiles } from './known-inputs.ts';

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
