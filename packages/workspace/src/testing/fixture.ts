import { test as anyTest, expect } from 'vitest';
import type { WorkspaceErrorCode } from '../errors.ts';
import { type Temporary, temporary } from './temporary-workspaces.ts';

/** A test with workspaces of its own in a temporary folder. */
export const test = anyTest.extend<{ t: Temporary }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of the fixtures that this one needs from the pattern.
  t: async ({}, use) => {
    using t = temporary();
    await use(t);
  },
});

/** Expects that a call fails with a code. */
export const rejects = (call: Promise<unknown>, code: WorkspaceErrorCode, more: object = {}) =>
  expect(call).rejects.toMatchObject({ code, ...more });
