import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutHtml } from './cut-html.ts';

const pieces = fc.constantFrom(
  ...['a', 'b', 'p', 'div', 'ul', 'li', 'table', 'tr', 'td', 'tbody', 'svg', 'pre', 'h1'].flatMap((name) => [
    `<${name}>`,
    `</${name}>`,
    `<${name} x='"' y=">" z>`,
  ]),
  ...[
    '<br>',
    '<img/>',
    '<!--',
    '-->',
    '<',
    '>',
    '"',
    "'",
    '&lt;',
    'text',
    ' ',
    '<title>',
    '</title>',
    '<script>',
    '</script>',
  ],
);
const soup = fc.array(pieces, { maxLength: 400 }).map((parts) => parts.join(''));

/** The depth of a document. Fails when an element is not closed. */
function depth(html: string): number {
  const open: string[] = [];
  let deepest = 0;
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z0-9]+)(?: [a-z]+="[^"]*")*>/g)) {
    if (['br', 'img'].includes(name)) continue;
    if (slash) expect(open.pop()).toBe(name);
    else deepest = Math.max(deepest, open.push(name));
  }
  expect(open).toEqual([]);
  return deepest;
}

describe('cutHtml', () => {
  it('closes every element and nests at most 128 deep, plus a title', () => {
    fc.assert(
      fc.property(soup, (source) => {
        expect(depth(cutHtml(source).html)).toBeLessThanOrEqual(129);
      }),
    );
    expect(depth(cutHtml('<div>'.repeat(5000)).html)).toBe(128);
  });

  it('has no bracket that begins no tag', () => {
    const tag = /<\/?[a-z0-9]+(?: [a-z]+="[^"]*")*>/g;
    fc.assert(
      fc.property(soup, (source) => {
        expect(cutHtml(source).html.replaceAll(tag, '')).not.toContain('<');
      }),
    );
  });

  it('leaves its own output unchanged', () => {
    fc.assert(
      fc.property(soup, (source) => {
        const { html } = cutHtml(source);
        expect(cutHtml(html)).toEqual({ html, complete: true });
      }),
    );
  });

  it('keeps text beyond the depth limit, and the end tags above it', () => {
    const { html } = cutHtml(`<section>${'<div>'.repeat(200)}deep${'</div>'.repeat(200)}</section><p>after`);
    expect(html).toBe(`<section>${'<div>'.repeat(127)}deep${'</div>'.repeat(127)}</section><p>after</p>`);
  });

  it.each([
    [
      'a cell ends the cell before',
      '<table><tr><td>a<b>b<td>c',
      '<table><tr><td>a<b>b</b></td><td>c</td></tr></table>',
    ],
    [
      'a row ends cells',
      '<table><tr><td><p>a<tr><td>b',
      '<table><tr><td><p>a</p></td></tr><tr><td>b</td></tr></table>',
    ],
    [
      'an inner table ends nothing outside',
      '<table><tr><td><table><tr><td>a</table>b',
      '<table><tr><td><table><tr><td>a</td></tr></table>b</td></tr></table>',
    ],
    [
      'an item of an inner list ends none of the outer',
      '<ul><li>a<ul><li>b<li>c</ul><li>d',
      '<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>',
    ],
    [
      'an end tag in a cell ends nothing around the table',
      '<div><table><tr><td>a</div><td>b</table>c',
      '<div><table><tr><td>a</td><td>b</td></tr></table>c</div>',
    ],
    ['a value as long as a picture is dropped', `<img src="${'x'.repeat(5000)}" alt=a>`, '<img alt="a">'],
    ['a link ends a link', '<a href=x>a<span>b<a href=y>c', '<a href="x">a<span>b</span></a><a href="y">c</a>'],
    ['a block ends a paragraph', '<p><i>a<div>b</p>c', '<p><i>a</i></p><div>bc</div>'],
  ])('%s', (_name, source, expected) => expect(cutHtml(source).html).toBe(expected));
});
