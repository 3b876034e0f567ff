import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox } from '@holdpoint/sandbox/open-sandbox';
import type { Config } from '../config.ts';
import { type Capabilities, capabilitiesSchema, sandboxLine } from '../output/sandbox-line.ts';
import type { Finding } from './finding.ts';

const name = 'sandbox';

/** @param reported what a running worker says of its sandbox; without one it is tried here */
export async function checkSandbox(config: Config, reported: unknown): Promise<Finding[]> {
  const known = capabilitiesSchema.safeParse(reported).data;
  if (known !== undefined) return judgeSandbox(known);
  const stateDir = await mkdtemp(join(tmpdir(), 'holdpoint-doctor-'));
  try {
    await using sandbox = await openSandbox({
      // Any gap is for the findings to tell, not for an exception.
      policy: 'best-effort',
      allowUnsandboxed: false,
      stateDir,
      path: config.path,
      bwrapPath: join(config.projectDir, '.cache/bubblewrap/bin/bwrap'),
      toolchains: config.toolchains,
    });
    return judgeSandbox(sandbox.capabilities);
  } catch (error) {
    const next = error instanceof Error && 'next' in error ? String(error.next) : 'Run `npm run setup`.';
    return [{ name, level: 'fail', text: error instanceof Error ? error.message : String(error), next }];
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}

export function judgeSandbox(capabilities: Capabilities): Finding[] {
  const next = capabilities.notes.join(' ');
  if (capabilities.driver === 'none') {
    return [{ name, level: 'fail', text: 'commands run without isolation', next }];
  }
  const missing = (['fs', 'net', 'pids', 'seccomp', 'uid_drop'] as const).filter(
    (promise) => capabilities[promise] !== 'enforced',
  );
  const text = sandboxLine(capabilities);
  if (missing.length > 0) return [{ name, level: 'fail', text, next }];
  return [{ name, level: 'ok', text, ...(next === '' ? {} : { next }) }];
}
