import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { bareContext } from '../testing/bare-context.ts';
import { defineToolset } from '../toolset.ts';
import { createRegistry } from './registry.ts';

const seen: unknown[] = [];
const send = defineTool({
  name: 'send',
  description: 'Sends.',
  effect: 'external',
  risk: 'high',
  input: z.strictObject({ to: z.string(), headers: z.record(z.string(), z.string()).default({}) }),
  execute: async (_context, args) => {
    seen.push(args);
    return { status: 'succeeded', value: null };
  },
  preview: async (_context, { to }) => ({ kind: 'problem', message: to }),
});
const registry = createRegistry([
  defineToolset({ name: 'asks', tools: [send], placeholders: true }),
  defineToolset({ name: 'other', tools: [send] }),
]);
const context = { ...bareContext(), placeholder: (name: string) => (name === 'TOKEN' ? 'the$&secret' : undefined) };
const args = { to: 'x$ENV.TOKEN/$ENV.TOKEN', headers: { '$ENV.TOKEN': 'Bearer $ENV.TOKEN' } };

it('fills placeholders just before the tool runs, and nowhere else', async () => {
  const call = { toolset: 'asks', tool: 'send', args, context };
  expect(await registry.preview(call)).toEqual({ kind: 'problem', message: args.to });
  expect(await registry.execute(call)).toMatchObject({ status: 'succeeded' });
  expect(seen.pop()).toEqual({ to: 'xthe$&secret/the$&secret', headers: { '$ENV.TOKEN': 'Bearer the$&secret' } });
  expect(registry.describe(call)).toMatchObject({ args });
  expect([registry.fillsPlaceholders('asks'), registry.fillsPlaceholders('other')]).toEqual([true, false]);
});

it('leaves them alone in a toolset that does not ask for it', async () => {
  await registry.execute({ toolset: 'other', tool: 'send', args, context });
  expect(seen.pop()).toEqual(args);
});

it('does not run a call with a placeholder that its run does not have', async () => {
  const outcome = await registry.execute({ toolset: 'asks', tool: 'send', args: { to: '$ENV.OTHER' }, context });
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ESECRETUNKNOWN' } });
  expect(seen).toEqual([]);
});

it('leaves them alone in a run that names no secret', async () => {
  await registry.execute({ toolset: 'asks', tool: 'send', args, context: bareContext() });
  expect(seen.pop()).toEqual(args);
});
