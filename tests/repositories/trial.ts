import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '../harness/system.ts';
import type { Scenario } from './scenario.ts';

/** A system, and a place for repositories. */
export interface Trial extends AsyncDisposable {
  system: System;
  /** Each scenario has a folder of its own; clones and patched trees lie beside it. */
  folderOf(scenario: Scenario, kind: string): string;
}

export async function openTrial(): Promise<Trial> {
  const root = await mkdtemp(join(tmpdir(), 'hp-repositories-'));
  const system = await startSystem();
  // The Node that runs this, for packages whose tests need one.
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
      await rm(root, { recursive: true, force: true });
    },
  };
}
