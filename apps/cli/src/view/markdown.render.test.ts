import { expect, it } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { markdownLines } from './markdown.ts';

const shown = (text: string, enabled = false, width = 40) => markdownLines(text, { colors: colorsFor(enabled), width });

it('renders headings, lists, code, quotes, tables and links', () => {
  const text = `# Done

I **fixed** the \`sum\`:

1. one
   - nested
2. two

- [x] tested

> quoted

\`\`\`js
a  +  b
\`\`\`

| file | change |
|------|--------|
| a.js | one    |

[docs](https://example.org) and https://example.org
`;
  expect(shown(text)).toEqual([
    'Done',
    '',
    'I fixed the sum:',
    '',
    '1. one',
    '   • nested',
    '2. two',
    '',
    '• ☑ tested',
    '',
    '│ quoted',
    '',
    '    a  +  b',
    '',
    'file  change',
    'a.js  one',
    '',
    'docs (https://example.org) and',
    'https://example.org',
  ]);
  expect(shown('**bold**', true)).toEqual(['\u001b[1mbold\u001b[22m']);
});

it('shows where a link leads, and every control character', () => {
  expect(shown('[https://good.example](https://evil.example)')).toEqual([
    'https://good.example',
    '(https://evil.example)',
  ]);
  const hostile =
    'a\u001b[2Jb `c\u001b]0;x\u0007` <b>\u202e</b> &#27;[2J\n\n    \u001b[1A\n\n# \u200bx\n\n![\u001b[H](\u001b[2J)';
  const text = shown(hostile, false, 400).join('\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
  expect(text).toContain('a<U+001B>[2Jb');
});

it('does not parse a text of unusual length', () => {
  const long = '['.repeat(250_000);
  expect(shown(long)).toEqual([long]);
});
