import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '@holdpoint/workspace/testing';
import { type System, startSystem } from '../harness/system.ts';
import type { Scenario } from './scenario.ts';

/** A running system and a temporary folder for repositories. */
export interface Environment extends AsyncDisposable {
  system: System;
  /** Creates a folder per scenario; clones and patched trees are placed next to the folder. */
  folderOf(scenario: Scenario, kind: string): string;
}

export async function openEnvironment(): Promise<Environment> {
  const root = await mkdtemp(join(tmpdir(), 'hp-repositories-'));
  const system = await startSystem();
  // This test's own Node, for packages with tests in need of Node.
  await system.startWorker({ HOLDPOINT_TOOLCHAINS: join(process.execPath, '../..') });
  return {
    system,
    folderOf(scenario, kind) {
      const folder = join(root, `${scenario.name.replaceAll(/\W+/g, '-')}-${kind}`);
      mkdirSync(folder);
      return folder;
    },
    async [Symbol.asyncDispose]() {
      await system[Symbol.asyncDispose]();
      unmountBelow(root);
      await rm(root, { recursive: true, force: true });
    },
  };
}
