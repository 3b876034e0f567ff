import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';

/** The real sandbox of this host, with its own temporary state directory. A host without a sandbox fails the tests. */
export async function openTestSandbox(): Promise<{ sandbox: Sandbox; close(): Promise<void> }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'holdpoint-tools-state-'));
  const sandbox = await openSandbox({
    policy: 'require',
    allowUnsandboxed: false,
    stateDir,
    bwrapPath,
  });
  return {
    sandbox,
    async close() {
      await sandbox[Symbol.asyncDispose]();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
