import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDir } from '../harness/index.ts';
import { markdownFiles } from './markdown-files.ts';

/** Targets of inline links outside of code, without those to other sites. */
function linksIn(file: string): string[] {
  const text = readFileSync(join(projectDir, file), 'utf8').replace(/```.*?```|`[^`\n]*`/gs, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target));
}

/** Anchors as GitHub derives them from headings. */
function anchorsIn(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each(markdownFiles())('every link of %s leads to a file and a heading', (file) => {
  const broken = linksIn(file).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(projectDir, file) : join(projectDir, dirname(file), path);
    return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
  });
  expect(broken).toEqual([]);
});

const pages = markdownFiles().filter((file) => file.startsWith('docs/'));
const guides = pages.filter((page) => dirname(page) === 'docs');

it('the README leads to every guide', () => {
  expect(guides.filter((page) => !linksIn('README.md').includes(page))).toEqual([]);
});

it('the index of docs/ leads to every page', () => {
  const linked = linksIn('docs/README.md').map((link) => join('docs', link));
  expect(pages.filter((page) => page !== 'docs/README.md' && !linked.includes(page))).toEqual([]);
});

it('ARCHITECTURE.md leads to every page of docs/design and is short', () => {
  const linked = linksIn('ARCHITECTURE.md');
  expect(pages.filter((page) => !guides.includes(page) && !linked.includes(page))).toEqual([]);
  expect(readFileSync(join(projectDir, 'ARCHITECTURE.md'), 'utf8').split(/\s+/).length).toBeLessThanOrEqual(2500);
});

it.each(pages.filter((page) => page.startsWith('docs/design/')))('%s has short paragraphs', (page) => {
  const text = readFileSync(join(projectDir, page), 'utf8').replace(/```.*?```/gs, '');
  const long = text.split(/\n\n|\n(?=#)|(?<=^#.*)\n/m).filter((paragraph) => paragraph.split(/\s+/).length > 120);
  expect(long).toEqual([]);
});
