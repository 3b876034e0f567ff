import { LLMock } from '@copilotkit/aimock';
import type { Client } from '@holdpoint/client';
import { afterAll, beforeAll, inject } from 'vitest';
import { joinSystem } from './shared-system.ts';
import { type Shared, type System, startSystem } from './system.ts';

/**
 * A single system for all tests of a file, started before the first test and removed after the last. Until then the system has only
 * `client`.
 */
export function useSystem({ env, workers = 1 }: { env?: () => Record<string, string>; workers?: number } = {}): System {
  let started: System | undefined;
  const client = clientOf(() => started);
  const system = { client } as System;
  beforeAll(async () => {
    started = await startSystem(env?.());
    Object.assign(system, started, { client });
    for (let started = 0; started < workers; started++) await system.startWorker();
  });
  afterAll(() => system[Symbol.asyncDispose]());
  return system;
}

/**
 * A tenant of the system that the files of a project share; in a project without one, a system of its own. For tests that change neither
 * processes nor settings: each start took three seconds of CPU time.
 */
export function useSharedSystem(): Shared {
  const socket = inject('system');
  if (socket === undefined) return useSystem();
  let joined: (Shared & AsyncDisposable) | undefined;
  const client = clientOf(() => joined);
  const system = { client } as Shared;
  beforeAll(async () => {
    joined = await joinSystem(socket);
    Object.assign(system, joined, { client });
  });
  afterAll(() => joined?.[Symbol.asyncDispose]());
  return system;
}

/** A test file takes the client of a system before the system has started. */
const clientOf = (started: () => Pick<System, 'client'> | undefined): Client =>
  new Proxy({} as Client, { get: (_, name) => Reflect.get(started()?.client ?? {}, name) });

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
