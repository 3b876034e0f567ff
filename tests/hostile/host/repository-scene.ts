import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import { openWorkspaces, type Snapshot, type Workspaces, type WorkspacesOptions } from '@holdpoint/workspace';
import { unmountBelow } from '@holdpoint/workspace/testing';
import { expect } from 'vitest';
import { makeClosed, openScene, type Scene } from './scene.ts';
import { firstFreeUid, type User } from './users.ts';

/** A worker together with its workspaces. */
export interface RepositoryScene extends AsyncDisposable {
  scene: Scene;
  workspaces: Workspaces;
  open(runId: string, files?: Record<string, string>): Promise<RepositoryRun>;
}

/** A run, its base and ways to change its tree. */
export interface RepositoryRun {
  mount: WorkspaceMount;
  base: string;
  /** Runs a shell line and returns stdout. Fails unless the exit code is 0. */
  run(line: string): Promise<string>;
  /** Runs a shell line and returns its output, whatever the exit code. */
  attempt(line: string): Promise<string>;
  write(path: string, text: string): Promise<unknown>;
  snapshot(parent?: string): Promise<Snapshot>;
}

export async function openRepositoryScene(
  user: User,
  options: Pick<WorkspacesOptions, 'layers'> = {},
): Promise<RepositoryScene> {
  const scene = await openScene(user);
  const top = mkdtempSync(join(tmpdir(), 'holdpoint-repository-'));
  chmodSync(top, 0o711);
  const directory = user.closed ? makeClosed(top) : top;
  let made = 50;
  const allocateOwner = () => {
    const uid = user.root ? firstFreeUid + made++ : user.uid;
    return { uid, gid: user.root ? uid : user.gid };
  };
  const workspaces = openWorkspaces({ dataDir: join(directory, 'data'), allocateOwner, ...options });
  return {
    scene,
    workspaces,
    async open(runId, files = { 'a.txt': 'one\ntwo\n', 'src/b.txt': 'three\n' }) {
      const source = join(directory, `source-${runId}`);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(source, path)), { recursive: true });
        writeFileSync(join(source, path), text);
      }
      const { id: base } = await workspaces.materialise({ runId, source: { type: 'directory', path: source } });
      return { base, ...(await at({ scene, workspaces }, { runId, epoch: 1, base })) };
    },
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      unmountBelow(top);
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** A run at a chosen tree. */
export async function at(
  { scene, workspaces }: Pick<RepositoryScene, 'scene' | 'workspaces'>,
  { runId, epoch, base }: { runId: string; epoch: number; base: string },
): Promise<Omit<RepositoryRun, 'base'>> {
  const { path, owner, repository } = await workspaces.locate({ runId, epoch });
  const mount = { id: runId, path, ...owner, repository };
  const result = (line: string) => scene.worker.run(mount, line);
  return {
    mount,
    async run(line) {
      const { end, stdout, stderr } = await result(line);
      expect(end, `${line}\n${stdout.text}${stderr.text}`).toEqual({ status: 'exited', exit_code: 0, signal: null });
      return stdout.text;
    },
    async attempt(line) {
      const { stdout, stderr } = await result(line);
      return stdout.text + stderr.text;
    },
    write: (file, text) => scene.worker.files(mount).write(file, Buffer.from(text), { expect: { any: true } }),
    snapshot: (parent = base) => workspaces.snapshot({ runId, epoch, parent, message: 'step' }),
  };
}
