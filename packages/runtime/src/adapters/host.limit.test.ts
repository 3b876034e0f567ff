import { resolveLimits } from '@holdpoint/sandbox';
import { expect, test } from 'vitest';
import { hostLimits } from './host.ts';

test('a command without limits has no more than the operator allows, and no more than it had without', () => {
  const own = resolveLimits();
  expect(hostLimits({})).toEqual({});
  expect(hostLimits({ command: { processes: 16, memory_bytes: own.memory_bytes * 2 } })).toEqual({
    processes: 16,
    memory_bytes: own.memory_bytes,
  });
});
