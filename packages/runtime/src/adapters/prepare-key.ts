import { createHash } from 'node:crypto';
import { arch, release } from 'node:os';
import { canonicalJson, type Json } from '@holdpoint/contract';
import type { Executor } from '@holdpoint/engine/worker';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { Workspaces } from '@holdpoint/workspace';
import type { ProjectToolchains } from '../toolchains/project-toolchains.ts';

/** Changes when the output of `prepare` depends on something new. */
const format = 2;

/**
 * Digest of everything known to decide the output of `prepare`; texts a command prints or fetches are not part of the digest. Undefined: no
 * output is kept. Without the sandbox no output is kept: the workspace has another path in each run, and installed programs may contain the
 * path. With folders of the source no output is kept either: the folders may change at any time.
 */
export async function prepareKey(
  deps: { sandbox: Sandbox; workspaces: Workspaces; toolchains: ProjectToolchains },
  mount: WorkspaceMount,
  { tenant, base }: Parameters<Executor['prepareKey']>[0],
  { commands, network, inputs, secrets }: Parameters<Executor['prepareKey']>[1],
): Promise<string | undefined> {
  const { sandbox, workspaces, toolchains } = deps;
  if (sandbox.capabilities.driver === 'none' || (mount.sourceFolders ?? []).length > 0) return undefined;
  const { chosen } = await toolchains.of({ ...mount, base });
  const runtimes = await sandbox.runtimes(mount);
  const inputDigest = await workspaces.inputDigest({ runId: mount.id, snapshot: base, globs: inputs });
  const decides = {
    ...{ format, tenant, inputs: inputDigest, system: [process.platform, arch(), release()] },
    commands: commands.map(({ command }) => command),
    network: network.allow,
    secrets: secrets.map(({ name, as }) => ({ name, as })),
    driver: sandbox.capabilities.driver,
    toolchains: chosen.map(({ language, version, path }) => ({ language, version, path })),
    runtimes: runtimes.map(({ path, version }) => ({ path, version })),
  };
  return createHash('sha256')
    .update(canonicalJson(decides as unknown as Json))
    .digest('hex');
}
