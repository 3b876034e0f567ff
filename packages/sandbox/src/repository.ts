import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { SandboxError, type WorkspaceMount } from './port.ts';

/** A host path, mounted inside in addition to the workspace. */
export interface RepositoryMount {
  host: string;
  inside: string;
  access: 'read' | 'write';
}

/**
 * The mounts to protect a workspace's repository. `.git` is a separate mount point, so no command can rename `.git`. Some files of `.git`
 * name programs for git to run. Read-only mounts cover these files, and a mount point can be neither replaced nor removed. A tool host may
 * only read `.git`.
 *
 * Throws `SandboxError` ESANDBOXSETUP when an entry under a mount is of another type: through a link the mount would land outside.
 */
export function repositoryMounts(workspace: WorkspaceMount, { isCommand }: { isCommand: boolean }): RepositoryMount[] {
  const { repository } = workspace;
  if (repository === undefined) return [];
  const host = join(workspace.path, '.git');
  const inside = '/workspace/.git';
  openForOwner(host, workspace);
  if (!isCommand) return [{ host, inside, access: 'read' }];
  const fixed = readdirSync(repository.fixed).map((name): RepositoryMount => {
    const source = join(repository.fixed, name);
    if (kindOf(lstatSync(source)) !== kindOf(lstat(join(host, name)))) throw damaged(workspace, name);
    return { host: source, inside: `${inside}/${name}`, access: 'read' };
  });
  return [
    { host, inside, access: workspace.readOnly ? 'read' : 'write' },
    ...fixed,
    { host: repository.objects, inside: '/holdpoint/objects', access: 'read' },
  ];
}

/**
 * Restores the owner's access to the repository, because a command may have removed the access. An unprivileged worker has the same user as
 * the command.
 */
function openForOwner(path: string, workspace: WorkspaceMount): void {
  const stats = lstat(path);
  if (!stats?.isDirectory()) throw damaged(workspace, '');
  if ((stats.mode & 0o700) !== 0o700) chmodSync(path, stats.mode | 0o700);
}

const lstat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const kindOf = (stats: Stats | undefined) => (stats?.isDirectory() ? 'folder' : stats?.isFile() ? 'file' : 'other');

function damaged({ id }: WorkspaceMount, name: string): SandboxError {
  const message = `The repository in the workspace of ${id} is damaged: ${join('.git', name)} has another type.`;
  return new SandboxError('ESANDBOXSETUP', message, {
    retryable: false,
    next: 'Take the run back to an earlier step (`runs undo`), or fork it.',
  });
}
