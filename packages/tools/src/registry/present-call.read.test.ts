import type { SettledCall } from '@holdpoint/contract';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineToolset, type Toolset } from '../toolset.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { createRegistry } from './registry.ts';

const at = '2026-01-02T03:04:05.000Z';
const call: SettledCall = {
  tool: 'run',
  args: { command: 'ls' },
  status: 'succeeded',
  value: { stdout: 'a' },
  times: { created_at: at, started_at: at, settled_at: at, queued_ms: 3, duration_ms: 4 },
  settings: {},
  modes: { read_only: false, dry_run: false, deterministic: false },
};

function presenting(toolset: Omit<Toolset, 'name' | 'tools'>) {
  const logged: object[] = [];
  const log = { error: (fields: object) => logged.push(fields) };
  const registry = createRegistry([defineToolset({ name: 'native', tools: [], ...toolset })], { log });
  return { logged, present: (more: Partial<SettledCall> = {}) => registry.present('native', { ...call, ...more }) };
}

describe('the result of a settled call', () => {
  it('is what its toolset makes of it', () => {
    const { present } = presenting({ present: ({ value, times }) => ({ data: value ?? null, ms: times.duration_ms }) });
    expect(present()).toEqual({ data: { stdout: 'a' }, ms: 4 });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('bug');
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a function', () => () => {}],
    ['returns a number that JSON does not have', () => 1n],
    ['returns a promise', async () => ({})],
    [
      'returns itself',
      () => {
        const own: { own?: object } = {};
        own.own = own;
        return own;
      },
    ],
  ])('is a fixed error when the toolset %s, logged once', (_, present) => {
    const { present: result, logged } = presenting({ present: present as never });
    const expected = { status: 'succeeded', error: { code: 'EPRESENT', message: expect.stringContaining('run') } };
    expect(result()).toMatchObject(expected);
    expect(result()).toMatchObject(expected);
    expect(logged).toEqual([expect.objectContaining({ toolset: 'native', tool: 'run', err: expect.any(Error) })]);
  });

  it('does not change the call that it was made of', () => {
    const { present } = presenting({
      present: (own) => {
        Object.assign(own.value as object, { stdout: 'changed' });
        return 1;
      },
    });
    expect(present()).toBe(1);
    expect(call.value).toEqual({ stdout: 'a' });
  });

  it('has the settings with the defaults of today', () => {
    const settings = z.strictObject({ limit: z.int().default(5), dir: z.string().default('.') });
    const { present } = presenting({ settings, present: (own) => own.settings });
    expect(present({ settings: { limit: 7 } })).toEqual({ limit: 7, dir: '.' });
  });

  it('is plain in the toolset holdpoint, and in one that is gone', () => {
    const registry = createRegistry([holdpoint]);
    const error = { code: 'EREJECTED', message: 'no' };
    for (const toolset of ['holdpoint', 'gone']) {
      expect(registry.present(toolset, call)).toEqual({ stdout: 'a' });
      expect(registry.present(toolset, { ...call, status: 'rejected', error, value: undefined })).toEqual({
        status: 'rejected',
        error,
      });
    }
  });
});
