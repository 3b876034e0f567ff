import { expect, test } from 'vitest';
import { unknownTools } from './unknown-tools.ts';

test('rules that name no tool are found, with the nearest names', () => {
  const rules = [{ match: {} }, { match: { tool: 'edit' } }, { match: { tool: 'Bsh' } }];
  expect(unknownTools(rules, ['bash', 'edit', 'grep'])).toEqual([
    { index: 2, tool: 'Bsh', detail: 'there is no tool "Bsh". Nearest: bash' },
  ]);
});
