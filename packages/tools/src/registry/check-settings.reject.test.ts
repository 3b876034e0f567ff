import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineToolset } from '../toolset.ts';
import { createRegistry } from './registry.ts';

const settings = z.strictObject({
  timeout_s: z.int().min(1).default(30),
  extensions: z.array(z.string()).default(['.txt']),
  limits: z.strictObject({ lines: z.int().default(10), bytes: z.int().default(20) }).prefault({}),
});
const registry = createRegistry([
  defineToolset({ name: 'native', tools: [], settings }),
  defineToolset({ name: 'bare', tools: [] }),
]);

describe('settings of a toolset', () => {
  it('have the defaults of what is absent', () => {
    expect(registry.checkSettings('native', { limits: { lines: 3 } })).toEqual({
      ok: true,
      settings: { timeout_s: 30, extensions: ['.txt'], limits: { lines: 3, bytes: 20 } },
    });
  });

  it.each([
    ['an unknown name', { timeout: 3 }, '/timeout', /no setting timeout. Nearest: timeout_s/],
    ['an unknown name within', { limits: { line: 3 } }, '/limits/line', /Nearest: lines/],
    ['a wrong type', { timeout_s: '3' }, '/timeout_s', /expected number/],
    ['a value out of range', { timeout_s: 0 }, '/timeout_s', />=1/],
    ['a wrong item', { extensions: ['a', 2] }, '/extensions/1', /expected string/],
    ['a name to escape', { 'a/b~c': 1 }, '/a~1b~0c', /no setting/],
  ])('refuse %s', (_, given, pointer, detail) => {
    expect(registry.checkSettings('native', given as never)).toEqual({
      ok: false,
      errors: [{ pointer, detail: expect.stringMatching(detail) }],
    });
  });

  it('are refused by a toolset that has none', () => {
    expect(registry.checkSettings('bare', {})).toEqual({ ok: true, settings: {} });
    expect(registry.checkSettings('bare', { x: 1 })).toMatchObject({
      ok: false,
      errors: [{ pointer: '/x', detail: 'the toolset bare has no settings' }],
    });
  });

  it.each([
    ['accept unknown names', z.object({ a: z.string().default('') })],
    ['have a field without a default', z.strictObject({ a: z.string() })],
    ['have what JSON has not', z.strictObject({ a: z.date().default(new Date(0)) })],
    [
      'change when they are read again',
      z.strictObject({
        a: z
          .string()
          .transform((text) => `${text}!`)
          .prefault(''),
      }),
    ],
  ])('are a mistake of the toolset when they %s', (_, wrong) => {
    expect(() => defineToolset({ name: 'native', tools: [], settings: wrong })).toThrow(
      expect.objectContaining({ code: 'EINVALIDTOOL' }),
    );
  });
});
