import { expect, test } from 'vitest';
import { idleRules } from './idle-rules.ts';

const tools = [
  { name: 'bash', effect: 'by run', risk: 'medium' },
  { name: 'edit', effect: 'workspace', risk: 'low' },
] as const;
const idle = (match: Parameters<typeof idleRules>[0][number]['match']) => idleRules([{ match }], tools);

test('lists rules that name no tool, with the nearest names', () => {
  const rules = [{ match: {} }, { match: { tool: 'edit' } }, { match: { tool: 'Bsh' } }, { match: { tool: 'e*' } }];
  expect(idleRules(rules, tools)).toMatchObject([
    { index: 2, field: 'tool', detail: 'there is no tool named "Bsh". Nearest: bash' },
    { index: 3, field: 'tool', detail: expect.stringContaining('not a pattern') },
  ]);
});

test('lists rules for an effect or risk that their tool never has', () => {
  expect(idle({ tool: 'edit', effect: 'external' })).toMatchObject([
    { field: 'effect', detail: expect.stringContaining('say workspace') },
  ]);
  expect(idle({ tool: 'edit', risk: 'high' })).toMatchObject([{ field: 'risk' }]);
  expect(idle({ tool: 'bash', effect: 'read' })).toMatchObject([{ field: 'effect' }]);
});

test('does not list rules that can match', () => {
  expect(idle({ tool: 'bash', effect: 'external', risk: 'medium' })).toEqual([]);
  expect(idle({ tool: 'edit', effect: 'workspace' })).toEqual([]);
  expect(idle({ effect: 'external', risk: 'high' })).toEqual([]);
});
