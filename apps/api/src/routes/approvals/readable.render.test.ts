import { expect, it } from 'vitest';
import { readable } from './readable.ts';

it('every text for a person shows the hidden characters of an older publish', () => {
  const hidden = 'main\u202e\u2066\u001b[2J\r';
  const target = { type: 'git', branch: hidden, message: `${hidden}\n${hidden}`, author: { name: hidden, email: '' } };
  const shown = readable(
    {
      action: { toolset: 'holdpoint', tool: 'publish', args: { branch: hidden, message: hidden }, effect: 'external' },
      preview: { target, files: [{ path: hidden }], [hidden]: hidden } as never,
    },
    true,
  );
  const { action, args, preview } = shown.readable;
  for (const text of [action, args, preview ?? '']) {
    expect(text).toContain('<U+202E>');
    expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u);
  }
  expect(shown.readable.hidden).toBe(true);
});
