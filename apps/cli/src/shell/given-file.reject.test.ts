import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readGivenFile } from './given-file.ts';

test('a file that a person named is read, or the reason is said in plain words', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hp-given-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'a.yaml'), 'a: 1\n');
  expect((await readGivenFile(cwd, 'a.yaml')).toString()).toBe('a: 1\n');
  const usage = { code: 'usage', next: 'Check the path; nothing was sent.' };
  await expect(readGivenFile(cwd, 'b.yaml')).rejects.toMatchObject({ ...usage, message: 'There is no file b.yaml.' });
  await expect(readGivenFile(cwd, 'a.yaml/b')).rejects.toMatchObject({ message: 'There is no file a.yaml/b.' });
  await expect(readGivenFile(cwd, '.')).rejects.toMatchObject({ message: '. is a folder, not a file.' });
  await expect(readGivenFile(cwd, 'b', { code: 'bad_plan', next: 'x' })).rejects.toMatchObject({
    code: 'bad_plan',
    next: 'x',
  });
});
