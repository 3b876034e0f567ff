import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolName } from './tool-name.ts';

test.each([
  ['github', 'get_file', 'mcp__github__get_file'],
  ['a-b', 'get-file', 'mcp__a-b__get-file'],
])('%s %s is %s', (server, tool, name) => {
  expect(toolName(server, tool)).toBe(name);
});

test('providers accept each name, and two tools of a server never share one', () => {
  const tool = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(tool, tool, (one, other) => {
      const names = [one, other].map((name) => toolName('server', name));
      for (const name of names) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
      expect(names[0] === names[1]).toBe(one === other);
    }),
  );
});
