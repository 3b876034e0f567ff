import { afterAll, beforeAll, expect, test } from 'vitest';
import { finished, git, type ModelServer, openModelServer, useSystem } from '../harness/index.ts';

let server: ModelServer;
let system = '';
beforeAll(async () => {
  server = await openModelServer((question) => {
    system = question.system;
    return { text: 'done' };
  });
});
afterAll(() => server[Symbol.asyncDispose]());
const tests = useSystem({
  env: () => ({ HOLDPOINT_MODEL: 'openai-compatible/fake', OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1` }),
});

const pointer = (digit: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 12345\n`;

test('submodules and files under git-lfs that the workspace lacks are in the run, its log and what the model reads', async () => {
  const { client } = tests;
  const module = await tests.repositoryWith({ 'm.txt': 'm' });
  const path = await tests.repositoryWith({
    'assets/.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'assets/big.bin': pointer('0'),
    'assets/other.bin': pointer('1'),
    'assets/small.bin': 'its content\n',
    'a.txt': 'a',
  });
  await git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'lib/module');
  await git(path, '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '-qm', 'module');
  const { run } = await client.createRun({ prompt: 'look', workspace: { source: { type: 'git', path } } });
  const { workspace } = await finished(client, run.id);
  const lfs_pointers = { files: 2, paths: ['assets/big.bin', 'assets/other.bin'] };
  expect(workspace.absent).toEqual({ submodules: ['lib/module'], lfs_pointers });
  const { data: events } = await client.listEvents(run.id, { limit: 100 });
  expect(events.find(({ type }) => type === 'workspace.materialised')?.data).toMatchObject({ lfs_pointers });
  expect(system).toContain('empty folders: "lib/module".');
  expect(system).toContain(
    'Files under git-lfs (2) that are here as pointers, without their content: "assets/big.bin"; ',
  );

  const whole = await tests.repositoryWith({ 'big.bin': pointer('0') });
  const { run: other } = await client.createRun({
    prompt: 'look',
    workspace: { source: { type: 'git', path: whole } },
  });
  expect((await finished(client, other.id)).workspace.absent, 'without the attribute it is a file').toBeNull();
  expect(system).not.toContain('git-lfs');
});
