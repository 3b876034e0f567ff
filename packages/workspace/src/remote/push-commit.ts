import { type Deps, type Owner, type RunFolder, WorkspaceError } from '../deps.ts';
import type { RemoteTarget } from '../source/git/repository.ts';
import { markShallow, pipePack } from '../source/git/take-commit.ts';
import { writeRef } from '../store/objects/index.ts';
import { assertDone, lastWords } from './failure.ts';
import { listRefs, remoteGit, withStaging } from './fetch-commit.ts';
import { folderOf } from './fetched.ts';

interface Input {
  folder: RunFolder;
  remote: RemoteTarget;
  branch: string;
  /** null: the branch must not exist. */
  from: string | null;
  commit: string;
  parent: string;
}

/**
 * Pushes a single commit to a branch by compare-and-set: the host moves the branch only from the plan's view of its place. git pushes from a
 * repository with the commit and its parent, and nothing else of the run.
 * @returns 'moved' when the branch was not at `from`
 */
export async function pushCommit(deps: Deps, input: Input): Promise<'moved' | undefined> {
  const { folder, branch, from, commit, parent } = input;
  const { access } = input.remote;
  const { runId } = folder;
  const args = [
    '-c',
    'push.negotiate=true',
    'push',
    '--porcelain',
    '--no-verify',
    '--no-signed',
    '--recurse-submodules=no',
  ].concat([`--force-with-lease=${branch}:${from ?? ''}`, '--', access.remote.url, `${commit}:${branch}`]);
  const push = (path: string, owner: Owner) => remoteGit(deps).run({ runId, access, folder: path, owner, args });
  const fill = async (path: string) => {
    await pipePack(deps.git, {
      pack: { args: [`--git-dir=${folder.shadow}`, 'pack-objects', '--revs', '--stdout', '--shallow', '-q'] },
      index: { args: [`--git-dir=${path}`, 'index-pack', '--stdin'] },
      revs: `--shallow ${parent}\n${commit}\n`,
    });
    await markShallow(path, parent);
    await writeRef(path, 'refs/holdpoint/out', commit);
  };
  return deps.fetching(folderOf(deps, access), async () => {
    const result = await withStaging(deps, runId, push, fill);
    if (result.ok) return undefined;
    // The connection may have ended after the host had moved the branch.
    const now = (await listRefs(deps, { runId, access, patterns: [branch] })).get(branch);
    if (now === commit) return undefined;
    if (now !== (from ?? undefined)) return 'moved';
    const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(result.stdout) ?? [];
    if (why === undefined) assertDone(access, result);
    const said = [why, lastWords(result.stderr)].join(': ');
    throw new WorkspaceError('EREMOTEREFUSED', `${access.remote.url} refuses ${branch}: ${said}`);
  });
}
