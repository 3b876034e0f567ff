import { describe, expect, it } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.ts';

const SIZE = 5_000_000;
const filled = (piece: string, size = SIZE) => piece.repeat(Math.floor(size / piece.length));

function convert(html: string) {
  const body = Buffer.from(html);
  const limits = { deadline_ms: 25_000, heap_mb: 256 };
  return htmlToMarkdown({ body, contentType: 'text/html', url: 'https://example.com/' }, { limits });
}

/** Every eighth in each test run, all of them in `npm run test:hostile`. */
const inForm = <Case>(cases: Case[]): Case[] =>
  cases.filter((_case, index) => process.env.HOLDPOINT_HOSTILE === 'full' || index % 8 === 3);

// Each of these takes a parser or a converter minutes, all memory or its stack when it is quadratic, or recurses, in the wrong place.
// To complete is what is tested: here each takes some 2 s at most.
describe('htmlToMarkdown endures', () => {
  const pages: [string, string][] = [
    ['a document 100,000 deep', `${'<div>'.repeat(100_000)}text${'</div>'.repeat(100_000)}`],
    ['one that never closes', `${filled('<i>', 200_000)}text`],
    ['nested lists and quotations', `${filled('<ul><li><blockquote>', 600_000)}text`],
    ['nested tables', `text${filled('<table><tr><td>', 900_000)}`],
    ['nested links around tables', `${'<a href=#x>text<table><tr><td>'.repeat(40)}${filled('w ')}`],
    ['nested powers', `${'a<sup>'.repeat(120)}${filled('text ')}`],
    ['an attribute of 5 MB', `<a title="${filled('x')}" href="/${filled('x', 100_000)}">text</a>`],
    ['more attributes than anybody needs', `<p ${filled('a=b ')}>text`],
    ['a tag name of 5 MB', `text<${filled('a')}>`],
    ['entities', `text${filled('&amp;')}`],
    ['brackets', `text${filled('<')}`],
    ['unmatched end tags', `text${filled('<div>', 400_000)}${filled('</x>')}`],
    ['comments that never end', `text${filled('<!--')}`],
    ['titles that never end', `text${filled('<title>')}`],
    ['quotes that never end', `text${filled('<a x="')}`],
    ['paragraphs', filled('<p>text')],
    ['columns', `<table><tr><td>text${filled('<td>x')}`],
    ['cells that claim to span the world', `<table>${filled('<tr><td colspan=999999999 rowspan=999999999>text<td>y')}`],
    ['open formatting in every paragraph', `${filled('<b>', 600)}${filled('<p>text')}`],
    ['a base that makes every link long', `<base href="/${'x'.repeat(1900)}/">${filled('<a href=a>text</a> ')}`],
    ['short lines in a deep list', `${'<ul><li>'.repeat(60)}${filled('text<br>')}`],
    ['more margin than there is memory', `text${'<ul><li>'.repeat(16)}<pre>${filled('a\n')}</pre>`],
    ['backticks', `text<code>${filled('`')}</code>`],
    ['blanks', `text${filled(' ')}`],
    ['NUL', `text${filled('\0')}`],
  ];
  it.each(inForm(pages))('%s', async (_name, html) => {
    const { markdown, links } = await convert(html);
    expect(markdown).toContain('text');
    expect(markdown.length).toBeLessThanOrEqual(2_000_000);
    expect(links.length).toBeLessThanOrEqual(1000);
  });

  it('and says when something is missing', async () => {
    expect((await convert(filled('<p>x', 200_000))).complete).toBe(true);
    expect((await convert(filled('<p>x'))).complete).toBe(false);
    expect((await convert(filled('word '))).complete).toBe(false);
    expect((await convert(filled('word ', 1_000_000))).complete).toBe(true);
  });
});
