import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startTestEngine, type TestEngine } from './real-redis.ts';

/** A test engine for all tests of a file. @param fresh empties its Redis before each test */
export function useTestEngine({ fresh = false } = {}): TestEngine {
  const engine = {} as TestEngine;
  beforeAll(async () => {
    Object.assign(engine, await startTestEngine());
  });
  afterAll(() => engine.stop());
  if (fresh) beforeEach(() => engine.deps.redis.flushall());
  return engine;
}
