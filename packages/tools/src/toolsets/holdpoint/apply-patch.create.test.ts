import { chmod, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@holdpoint/contract';
import { FileError } from '@holdpoint/contract';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { useWorkspace } from '../../testing/workspace.ts';
import { holdpoint } from './toolset.ts';

const workspace = useWorkspace();
const patch = (...lines: string[]): { input: string } => ({
  input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});
const get = async (path: string) => (await workspace().get(path)).toString();
const put = async (files: Record<string, string>) => {
  for (const [path, content] of Object.entries(files)) await workspace().put(path, content);
};
/** Changes every kind of file at once. */
const everything = patch(
  ...['*** Update File: a.txt', '-one', '+1', '*** Add File: new/deep.txt', '+new', '*** Delete File: old.txt'],
  ...['*** Update File: run.sh', '*** Move to: bin/run.sh', ' #!/bin/sh', '+echo'],
);
const before = { 'a.txt': 'one\ntwo\n', 'old.txt': 'old\n', 'run.sh': '#!/bin/sh\n' };

describe('apply_patch', () => {
  it('changes, adds, deletes and moves files, and keeps modes', async () => {
    await put(before);
    await chmod(join(workspace().path, 'run.sh'), 0o755);
    const preview = await workspace().preview('apply_patch', everything);
    const outcome = await workspace().call('apply_patch', everything);
    expect(outcome).toMatchObject({
      status: 'succeeded',
      touched: ['a.txt', 'new/deep.txt', 'old.txt', 'run.sh', 'bin/run.sh'],
      value: {
        files: [
          { path: 'a.txt', change: 'changed' },
          { path: 'new/deep.txt', change: 'added' },
          { path: 'old.txt', change: 'deleted' },
          { path: 'bin/run.sh', change: 'moved', from: 'run.sh' },
        ],
        diff_truncated: false,
      },
    });
    const { diff } = (outcome as { value: { diff: string } }).value;
    expect(preview).toMatchObject({ kind: 'diff', patch: diff });
    expect(await get('a.txt')).toBe('1\ntwo\n');
    expect(await get('new/deep.txt')).toBe('new\n');
    expect(await get('bin/run.sh')).toBe('#!/bin/sh\necho\n');
    expect((await stat(join(workspace().path, 'bin/run.sh'))).mode & 0o777).toBe(0o755);
    expect((await readdir(workspace().path)).sort()).toEqual(['a.txt', 'bin', 'new']);
  });

  it.each<[string, string[], string, object]>([
    [
      'a hunk without its place',
      ['*** Update File: old.txt', '-nope', '+x'],
      'EPATCHMISMATCH',
      { path: 'old.txt', hunk: 1 },
    ],
    ['a missing file', ['*** Update File: ol.txt', '-old', '+x'], 'ENOENT', { nearest: ['old.txt'] }],
    ['a new file that exists', ['*** Add File: old.txt', '+x'], 'EEXIST', { path: 'old.txt' }],
    ['a target that exists', ['*** Update File: run.sh', '*** Move to: old.txt'], 'EEXIST', { path: 'old.txt' }],
    ['a deletion of a folder', ['*** Delete File: folder'], 'EPATCHMISMATCH', { path: 'folder' }],
    ['a deletion of a link', ['*** Delete File: link'], 'EPATCHMISMATCH', { path: 'link' }],
    ['the same file twice', ['*** Delete File: ./a.txt'], 'EPATCHINVALID', { path: 'a.txt' }],
    ['a path outside', ['*** Add File: ../x', '+x'], 'EOUTSIDE', {}],
    ['the repository', ['*** Add File: .git/hooks/post-commit', '+x'], 'EREPOSITORY', {}],
    ['a mistake in its text', ['*** Delete File: old.txt', 'x'], 'EPATCHINVALID', { line: 7 }],
  ])('changes nothing with %s', async (_name, lines, code, value) => {
    await put({ ...before, 'folder/x': '' });
    await symlink('old.txt', join(workspace().path, 'link'));
    const args = patch('*** Update File: a.txt', '@@', '-one', '+1', ...lines);
    const outcome = await workspace().call('apply_patch', args);
    expect(outcome).toMatchObject({ status: 'failed', error: { code } });
    if (Object.keys(value).length > 0) expect(outcome).toMatchObject({ value, touched: [] });
    expect(await get('a.txt')).toBe(before['a.txt']);
    expect(await get('old.txt')).toBe(before['old.txt']);
  });

  it('takes every change back when a later one fails, whichever it is', async () => {
    const names = ['write', 'move', 'remove', 'makeDirectory'] as const;
    for (let failing = 1; failing <= 7; failing++) {
      await put(before);
      let calls = 0;
      const files = workspace().context().files;
      const broken: WorkspaceFiles = { ...files };
      for (const name of names) {
        broken[name] = ((...args: never[]) => {
          calls += 1;
          if (calls === failing) throw new FileError('ENOSPC', 'x', 'no space');
          return (files[name] as (...args: never[]) => unknown)(...args);
        }) as never;
      }
      const outcome = await workspace().call('apply_patch', everything, { files: broken });
      expect(outcome, `call ${failing}`).toMatchObject({ status: 'failed', error: { code: 'ENOSPC' } });
      for (const [path, content] of Object.entries(before)) expect(await get(path), `call ${failing}`).toBe(content);
      expect(await readdir(join(workspace().path, 'new')).catch(() => [])).toEqual([]);
      expect(await readdir(join(workspace().path, 'bin')).catch(() => [])).toEqual([]);
    }
  });

  it('keeps the change of another call, and says what stays changed when it cannot take its own back', async () => {
    await put({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const files = workspace().context().files;
    let rounds = 0;
    const racing: WorkspaceFiles = {
      ...files,
      async write(path, data, options, signal) {
        if (path === 'b.txt' && rounds++ === 0) await workspace().put('b.txt', 'two\nmore\n');
        return files.write(path, data, options, signal);
      },
    };
    const both = patch('*** Update File: a.txt', '-one', '+1', '*** Update File: b.txt', '-two', '+2');
    expect(await workspace().call('apply_patch', both, { files: racing })).toMatchObject({ status: 'succeeded' });
    expect([await get('a.txt'), await get('b.txt')]).toEqual(['1\n', '2\nmore\n']);

    await put({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const stolen: WorkspaceFiles = {
      ...files,
      async write(path, data, options, signal) {
        if (path !== 'b.txt') return files.write(path, data, options, signal);
        await workspace().put('a.txt', 'theirs\n');
        throw new FileError('ENOSPC', 'b.txt', 'no space');
      },
    };
    const outcome = await workspace().call('apply_patch', both, { files: stolen });
    expect(outcome).toMatchObject({ error: { code: 'EPATCHPARTIAL' }, value: { changed: ['a.txt'] } });
    expect(outcome).not.toHaveProperty('touched');
    expect(await get('a.txt')).toBe('theirs\n');
  });
});

describe('the editing tools offered to a model', () => {
  const editing = (model: string, settings?: object) =>
    createRegistry([holdpoint])
      .list('holdpoint', { model, settings })
      .map(({ name }) => name)
      .filter((name) => /edit|patch/.test(name))
      .join(' ');

  it.each([
    ['openai/gpt-5.1-codex', undefined, 'apply_patch'],
    ['openai-chat/o3', undefined, 'apply_patch'],
    ['openai-compatible/openai/gpt-oss-120b', undefined, 'apply_patch'],
    ['anthropic/claude-sonnet-4-5', undefined, 'edit multi_edit'],
    ['google/gemini-3-pro', {}, 'edit multi_edit'],
    ['ollama/olmo-2', undefined, 'edit multi_edit'],
    ['anthropic/claude-sonnet-4-5', { editing: 'apply_patch' }, 'apply_patch'],
    ['openai/gpt-5', { editing: 'edit' }, 'edit multi_edit'],
    ['openai/gpt-5', { editing: 'all' }, 'edit multi_edit apply_patch'],
  ])('%s with %j: %s', (model, settings, names) => expect(editing(model, settings)).toBe(names));

  it('are all listed for people', () => {
    const names = createRegistry([holdpoint])
      .list('holdpoint')
      .map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['edit', 'multi_edit', 'apply_patch']));
  });
});
