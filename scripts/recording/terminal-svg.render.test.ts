import { expect, it } from 'vitest';
import { terminalSvg } from './terminal-svg.ts';

it('escapes text and keeps colours', () => {
  const svg = terminalSvg('a & b', [{ text: '\u001b[1m\u001b[36m<x>\u001b[39m\u001b[22m & y', at: 0 }]);
  expect(svg).toContain('<tspan class="b c">&lt;x&gt;</tspan> &amp; y</text>');
  expect(svg).toContain('>a &amp; b</text>');
});

it('cuts long lines', () =>
  expect(terminalSvg('t', [{ text: 'x'.repeat(101), at: 0 }])).toContain(`>${'x'.repeat(99)}…</text>`));

it('scrolls once the window is full, and rests at the last line', () => {
  const lines = Array.from({ length: 30 }, (_, i) => ({ text: `line ${i}`, at: i }));
  const svg = terminalSvg('t', lines);
  expect(svg).toContain('.s{transform:translateY(-72px)}');
  expect(svg).toMatch(/@keyframes s\{.*% ?\{transform:translateY\(-72px\)\}\}/);
});
