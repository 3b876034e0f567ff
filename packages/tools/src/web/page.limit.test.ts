import { afterAll, describe, expect, it } from 'vitest';
import { openTextThreads } from '../text-work/open-text-threads.ts';

const pageChars = 5_000_000;
const filled = (piece: string, size = pageChars) => piece.repeat(Math.floor(size / piece.length));

const threads = openTextThreads({ deadlineMs: 110_000 });
afterAll(() => threads.close());

function convert(html: string, format: 'markdown' | 'text' = 'markdown') {
  const text = threads.of('run_1', new AbortController().signal);
  return text.run('page', { body: Buffer.from(html), contentType: 'text/html', url: 'https://example.com/', format });
}

/** Every eighth page in each test run; all pages in `npm run test:hostile`. */
const inForm = <Case>(cases: Case[]): Case[] =>
  cases.filter((_case, index) => process.env.HOLDPOINT_HOSTILE === 'full' || index % 8 === 3);

// A parser or a writer that is quadratic, or recurses, in the wrong place takes minutes, all memory or its stack on one of these pages.
// The test is that each completes in a thread with the usual bound of memory. The slowest takes 1 s.
describe('a hostile page renders', () => {
  const pages: [string, string][] = [
    ['a document 100,000 deep', `${'<div>'.repeat(100_000)}text${'</div>'.repeat(100_000)}`],
    ['one that never closes', `${filled('<i>', 200_000)}text`],
    ['nested lists and quotations', `${filled('<ul><li><blockquote>', 600_000)}text`],
    ['nested tables', `text${filled('<table><tr><td>', 900_000)}`],
    ['nested links around tables', `${'<a href=#x>text<table><tr><td>'.repeat(40)}${filled('w ')}`],
    ['nested powers', `${'a<sup>'.repeat(120)}${filled('text ')}`],
    ['an attribute of 5 MB', `<a title="${filled('x')}" href="/${filled('x', 100_000)}">text</a>`],
    ['more attributes than any page needs', `<p ${filled('a=b ')}>text`],
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
    for (const format of ['markdown', 'text'] as const) {
      const page = await convert(html, format);
      expect(page).toMatchObject({ ok: true, content: expect.stringContaining('text') });
      expect(page.ok && page.content.length).toBeLessThanOrEqual(2_000_000);
    }
  });

  it('is incomplete when something is missing', async () => {
    expect(await convert(filled('<p>x', 200_000))).toMatchObject({ complete: true });
    expect(await convert(filled('<p>x'))).toMatchObject({ complete: false });
    expect(await convert(filled('word '))).toMatchObject({ complete: false });
    expect(await convert(filled('word ', 1_000_000))).toMatchObject({ complete: true });
  });
});
