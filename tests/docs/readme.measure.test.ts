import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDir } from '../harness/index.ts';
import { markdownFiles } from './markdown-files.ts';

const read = (file: string): string => readFileSync(join(projectDir, file), 'utf8');

it('the README has at most 700 words', () =>
  expect(read('README.md').trim().split(/\s+/).length).toBeLessThanOrEqual(700));

it('the README shows examples/client.ts', () =>
  expect(/```ts\n(.*?)```/s.exec(read('README.md'))?.[1]).toBe(read('examples/client.ts')));

it('no documentation calls the command through npm run', () =>
  expect(markdownFiles().filter((file) => /npm run (-s )?holdpoint/.test(read(file)))).toEqual([]));
