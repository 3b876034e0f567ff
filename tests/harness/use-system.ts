import { LLMock } from '@copilotkit/aimock';
import type { Client } from '@holdpoint/client';
import { afterAll, beforeAll } from 'vitest';
import { type System, startSystem } from './system.ts';

/**
 * A single system for all tests of a file, started before the first test and removed after the last. Until then the system has only
 * `client`.
 */
export function useSystem({ env, workers = 1 }: { env?: () => Record<string, string>; workers?: number } = {}): System {
  let started: System | undefined;
  const client = new Proxy({} as Client, { get: (_, name) => Reflect.get(started?.client ?? {}, name) });
  const system = { client } as System;
  beforeAll(async () => {
    started = await startSystem(env?.());
    Object.assign(system, started, { client });
    for (let started = 0; started < workers; started++) await system.startWorker();
  });
  afterAll(() => system[Symbol.asyncDispose]());
  return system;
}

/** A system whose model is a mock of the Anthropic API. */
export function useModelSystem(options?: { workers: number }): { mock: LLMock; system: System } {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  beforeAll(() => mock.start());
  const system = useSystem({
    ...options,
    env: () => ({
      HOLDPOINT_MODEL: 'anthropic/claude-test',
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: mock.url,
    }),
  });
  afterAll(() => mock.stop());
  return { mock, system };
}
