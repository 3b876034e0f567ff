import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';

/** The real sandbox of this host, with its own temporary state directory. A host without a sandbox fails the tests. */
export async function openTestSandbox(): Promise<{ sandbox: Sandbox; close(): Promise<void> }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'holdpoint-tools-state-'));
  const sandbox = await openSandbox({
    policy: 'require',
    allowUnsandboxed: false,
    stateDir,
    bwrapPath: [fileURLToPath(new URL('../../../../.cache/bubblewrap/usr/bin/bwrap', import.meta.url))],
  });
  return {
    sandbox,
    async close() {
      await sandbox[Symbol.asyncDispose]();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
