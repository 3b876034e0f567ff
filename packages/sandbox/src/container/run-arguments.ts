import { INSIDE, type ReadOnlyMount } from '../bubblewrap/equipment.ts';
import { SandboxError } from '../errors.ts';
import { gitEnvironment } from '../git-environment.ts';
import { repositoryMounts } from '../repository.ts';
import type { TreeRequest } from '../tree.ts';

/** How containers of a workspace, and of ours at all, are found again. */
export const LABEL = 'holdpoint.workspace';
/** How those with a label are found. */
export const COMMAND_LABEL = 'holdpoint.command';

export interface ContainerPlan {
  image: string;
  /** An OCI runtime that the engine knows, e.g. `runsc`; null is its default. */
  runtime: string | null;
  mounts: readonly ReadOnlyMount[];
  /** Directories to put before the usual ones on PATH. */
  path: readonly string[];
  tmpBytes: number;
}

/**
 * The arguments of `docker run`; podman and nerdctl take the same. Values of the environment are not among them, because every user of the
 * host may read arguments: the engine's client takes those from its own environment.
 */
export function runArguments(
  plan: ContainerPlan,
  request: TreeRequest,
  names: { container: string; idFile: string },
): string[] {
  const { workspace, limits } = request;
  const mounts = [
    { host: workspace.path, inside: '/workspace', mode: 'rw' },
    ...repositoryMounts(workspace, request).map(({ access, ...mount }) => ({
      ...mount,
      mode: access === 'read' ? 'ro' : 'rw',
    })),
    ...plan.mounts.map((mount) => ({ ...mount, mode: 'ro' })),
  ];
  return [
    ...['run', '--rm', '--pull', 'never', '--name', names.container, '--cidfile', names.idFile],
    ...['--label', `${LABEL}=${workspace.id}`],
    ...(request.label === null ? [] : ['--label', `${COMMAND_LABEL}=${request.label}`]),
    ...(plan.runtime === null ? [] : ['--runtime', plan.runtime]),
    ...['--network', 'none', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--user', `${workspace.uid}:${workspace.gid}`, '--hostname', 'sandbox'],
    ...['--pids-limit', String(limits.processes), '--cpus', (limits.cpu_percent / 100).toFixed(2)],
    ...['--memory', String(limits.memory_bytes), '--memory-swap', String(limits.memory_bytes)],
    ...['--ulimit', 'core=0', '--ulimit', `fsize=${limits.file_bytes}`, '--ulimit', `nofile=${limits.open_files}`],
    ...['--ulimit', `cpu=${limits.cpu_seconds}:${limits.cpu_seconds + 1}`],
    ...['--tmpfs', `/tmp:rw,nosuid,nodev,mode=1777,size=${plan.tmpBytes}`, '--shm-size', '16m'],
    ...mounts.flatMap(({ host, inside, mode }) => ['--volume', `${bindable(host)}:${inside}:${mode}`]),
    ...['--workdir', request.cwd === '.' ? '/workspace' : `/workspace/${request.cwd}`],
    ...Object.keys(containerEnvironment(plan, request.env)).flatMap((name) => ['--env', name]),
    ...(request.toolHost || request.stdin !== null ? ['--interactive'] : []),
    ...['--entrypoint', request.argv[0], plan.image, ...request.argv.slice(1)],
  ];
}

/** Variables for the command, which are also the client's. Throws `SandboxError` ECOMMANDINVALID on one that would steer the client. */
export function containerEnvironment(
  plan: Pick<ContainerPlan, 'path'>,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const steering = Object.keys(env).find((name) =>
    /^(DOCKER|CONTAINERS?|CONTAINERD|PODMAN|NERDCTL|BUILDKIT)_/.test(name),
  );
  if (steering !== undefined) {
    throw new SandboxError('ECOMMANDINVALID', `The environment variable ${steering} steers the container engine.`, {
      retryable: false,
      next: 'Leave it out, or set it inside the command.',
    });
  }
  const path = [...plan.path, '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  const git = gitEnvironment(`${INSIDE}/inside/etc/gitconfig`);
  return { PATH: path, HOME: '/tmp', LANG: 'C.UTF-8', TMPDIR: '/tmp', ...git, ...env };
}

function bindable(host: string): string {
  if (!host.includes(':')) return host;
  throw new SandboxError('ESANDBOXSETUP', `${host} cannot be shown in a container, because of its colon.`, {
    retryable: false,
    next: 'Move it to a path without a colon.',
  });
}
