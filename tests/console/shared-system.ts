import { execFileSync } from 'node:child_process';
import { LLMock } from '@copilotkit/aimock';
import type { TestProject } from 'vitest/node';
import { findBrowser } from '../../scripts/find-browser.ts';
import { projectDir } from '../harness/processes.ts';
import { startSystem } from '../harness/system.ts';
import { commentReplies, hostileWords } from './model-words.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined: this machine has no browser, and no system was started. */
    console: { url: string; key: string; dataDir: string } | undefined;
  }
}

/** One system for all files: each file has a tenant of its own. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const browser = findBrowser();
  if ('missing' in browser) {
    process.stderr.write(`The tests of the console are skipped: ${browser.missing}\n`);
    project.provide('console', undefined);
    return undefined;
  }
  execFileSync(process.execPath, ['apps/console/build.ts'], { cwd: projectDir, stdio: 'inherit' });
  const model = new LLMock({ port: 0, host: '127.0.0.1' });
  model.on({ userMessage: 'say hostile words' }, { content: hostileWords });
  for (const reply of commentReplies) model.on(...reply);
  await model.start();
  const system = await startSystem({
    HOLDPOINT_MODEL: 'anthropic/claude-test',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: model.url,
  });
  await system.startWorker();
  project.provide('console', { url: system.api.url(), key: system.key, dataDir: system.dataDir });
  return async () => {
    await system[Symbol.asyncDispose]();
    await model.stop();
  };
}
