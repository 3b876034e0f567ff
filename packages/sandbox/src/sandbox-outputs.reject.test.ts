import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputsFolder } from '@holdpoint/contract';
import { beforeAll, expect, test } from 'vitest';
import type { WorkspaceMount } from './port.ts';
import { isRoot, useTestHost } from './testing/host.ts';

const { host } = useTestHost();
let workspace: WorkspaceMount;
let other: WorkspaceMount;
const file = `${outputsFolder}/bash-0123456789ab.txt`;

/** A workspace with a folder of outputs, as a worker makes it. */
function withOutputs(text: string): WorkspaceMount {
  const made = host.makeWorkspace();
  const outputs = `${made.path}.outputs`;
  mkdirSync(outputs);
  if (isRoot) chownSync(outputs, 0, made.gid);
  chmodSync(outputs, 0o750);
  writeFileSync(join(outputs, 'bash-0123456789ab.txt'), text, { mode: 0o444 });
  return { ...made, outputs };
}

beforeAll(() => {
  workspace = withOutputs('one\nneedle\n');
  other = withOutputs('of another run\n');
  symlinkSync('/etc/passwd', join(workspace.outputs ?? '', 'link.txt'));
});

test('commands and file tools of a run read its outputs at one path, in every kind of sandbox', async () => {
  const line = `cat ${file}`;
  const outputs = await Promise.all([
    host.run(workspace, line),
    host.run(workspace, line, { only: ['cat'] }),
    host.run({ ...workspace, readOnly: true }, line),
  ]);
  expect(outputs.map(({ stdout }) => stdout.text)).toEqual(Array(3).fill('one\nneedle\n'));
  const files = host.sandbox.files(workspace);
  expect((await files.read(file)).data.toString()).toBe('one\nneedle\n');
  expect((await files.list(outputsFolder)).entries.map(({ name }) => name)).toContain('bash-0123456789ab.txt');
  const { stdout } = await host.sandbox.search({
    ...{ workspace, path: file, args: ['--no-config', '--line-number', 'needle', '--', file] },
    signal: new AbortController().signal,
  });
  expect(stdout.text).toBe('2:needle\n');
});

test.each([
  `echo x >> ${file}`,
  `rm ${file}`,
  `chmod u+w ${file}`,
  `ln -s /etc/hosts ${outputsFolder}/new`,
  `mv ${outputsFolder} /tmp/away`,
  `mkdir ${outputsFolder}/d`,
])('no command changes them: %s', async (line) => {
  const { end, stderr } = await host.run(workspace, line);
  expect(end).not.toMatchObject({ exit_code: 0 });
  expect(stderr.text).toMatch(/Read-only file system|Permission denied|busy/);
  expect((await host.run(workspace, `cat ${file}`)).stdout.text).toBe('one\nneedle\n');
});

test('no file tool changes them, or leaves them by `..` or a link', async () => {
  const files = host.sandbox.files(workspace);
  const any = { expect: { any: true } } as const;
  for (const call of [
    () => files.write(file, Buffer.from('x'), any),
    () => files.remove(file),
    () => files.move(file, 'taken.txt'),
    () => files.makeDirectory(`${outputsFolder}/d`),
    () => files.read(`${outputsFolder}/../objects/x`),
    () => files.read(`${outputsFolder}/link.txt`),
    () => files.read(`${outputsFolder}2/x`),
  ]) {
    await expect(call()).rejects.toMatchObject({ name: 'FileError', code: 'EOUTSIDE' });
  }
  await expect(files.read(`${outputsFolder}/gone.txt`)).rejects.toMatchObject({
    code: 'ENOENT',
    next: expect.stringContaining('Make the call again'),
  });
});

test('a run sees only its own, and none where there is none', async () => {
  expect((await host.run(other, `cat ${outputsFolder}/*`)).stdout.text).toBe('of another run\n');
  const bare = host.makeWorkspace();
  expect((await host.run(bare, `ls ${outputsFolder}`)).end).toMatchObject({ exit_code: 2 });
  await expect(host.sandbox.files(bare).read(file)).rejects.toMatchObject({ code: 'ENOENT' });
});
