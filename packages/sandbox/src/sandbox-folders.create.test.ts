import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isRoot, rejects, until, useTestHost } from './testing/host.ts';
import type { WorkspaceMount } from './tree.ts';

const { host, test } = useTestHost();
let made = 0;

/** A workspace that sees these folders of a source, and the source. */
function withFolders(workspace: WorkspaceMount, ...paths: string[]): { mount: WorkspaceMount; source: string } {
  const source = join(host.directory, `source-${++made}`);
  for (const path of paths) {
    mkdirSync(join(source, path, 'pkg'), { recursive: true });
    writeFileSync(join(source, path, 'pkg/index.js'), 'module.exports = 1;\n');
    mkdirSync(join(workspace.path, path), { recursive: true });
    for (let at = path; at !== '.'; at = join(at, '..'))
      chownSync(join(workspace.path, at), workspace.uid, workspace.gid);
  }
  return { mount: judged(workspace, source, ...paths), source };
}

const judged = (workspace: WorkspaceMount, source: string, ...paths: string[]): WorkspaceMount => ({
  ...workspace,
  sourceFolders: paths.map((path) => ({ path, host: join(source, path), identity: identityOf(join(source, path)) })),
});

function identityOf(path: string): string {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
  return [dev, ino, birthtimeNs].join();
}

test('commands and file tools see a folder of the source, and cannot change it', async ({ workspace }) => {
  const { mount, source } = withFolders(workspace, 'node_modules', 'packages/a/node_modules');
  const line = `
    cat node_modules/pkg/index.js packages/a/node_modules/pkg/index.js
    for change in 'echo x > node_modules/new' 'rm node_modules/pkg/index.js' 'chmod 777 node_modules/pkg' \\
      'touch node_modules/pkg' 'rmdir node_modules' 'mv node_modules moved' 'ln node_modules/pkg/index.js linked' \\
      'ln -s /etc/passwd packages/a/node_modules/p' 'mkfifo node_modules/fifo' 'echo x > /proc/self/cwd/node_modules/new'; do
      bash -c "$change" 2>>errors && echo "could $change"
    done
    grep -c 'Read-only file system' errors; true`;
  const { stdout, end } = await host.run(mount, line);
  expect(end).toMatchObject({ exit_code: 0 });
  expect(stdout.text).toBe('module.exports = 1;\nmodule.exports = 1;\n7\n');
  expect(readFileSync(join(workspace.path, 'errors'), 'utf8')).toMatch(/busy/i);
  const files = host.sandbox.files(mount);
  expect((await files.read('packages/a/node_modules/pkg/index.js')).data.toString()).toBe('module.exports = 1;\n');
  expect((await files.list('node_modules')).entries.map(({ name }) => name)).toEqual(['pkg']);
  const x = Buffer.from('x');
  await rejects(files.write('node_modules/new', x, { expect: { exists: false } }), 'EROFS', {
    next: expect.stringContaining('`with`'),
  });
  await rejects(files.write('node_modules/deep/new', x, { expect: { exists: false } }), 'EROFS');
  await rejects(files.makeDirectory('node_modules/folder'), 'EROFS');
  await rejects(files.remove('node_modules/pkg', { recursive: true }), 'EROFS');
  await rejects(files.move('node_modules/pkg/index.js', 'taken.js'), 'EROFS');
  expect(existsSync(join(source, 'node_modules/new'))).toBe(false);
  expect(statSync(join(workspace.path, 'node_modules')).nlink).toBe(2);
});

test('programs of a folder gain no rights, and its devices are closed', async ({ workspace }) => {
  const { mount } = withFolders(workspace, 'node_modules');
  const { stdout } = await host.run(mount, `grep ' /workspace/node_modules ' /proc/self/mountinfo | cut -d' ' -f6`);
  expect(stdout.text.trim().split(',')).toEqual(expect.arrayContaining(['ro', 'nosuid', 'nodev']));
});

test('a spare is used while the folder is the same, and not with another one', async ({ workspace }) => {
  const { mount, source } = withFolders(workspace, 'node_modules');
  const isUsed = async (one: WorkspaceMount, expected: string) => {
    const { used, waiting } = host.sandbox.spares;
    expect(waiting).toBeGreaterThan(0);
    expect((await host.run(one, 'cat node_modules/pkg/index.js')).stdout.text).toBe(expected);
    return host.sandbox.spares.used > used;
  };
  await host.run(mount, 'true');
  await until(() => host.sandbox.spares.waiting > 0);
  expect(await isUsed(mount, 'module.exports = 1;\n')).toBe(true);
  await until(() => host.sandbox.spares.waiting > 0);
  const tools = await host.sandbox.files(mount).read('node_modules/pkg/index.js');
  expect(tools.data.toString()).toBe('module.exports = 1;\n');

  renameSync(join(source, 'node_modules'), join(source, 'old'));
  mkdirSync(join(source, 'node_modules/pkg'), { recursive: true });
  writeFileSync(join(source, 'node_modules/pkg/index.js'), 'two\n');
  const now = judged(workspace, source, 'node_modules');
  expect(await isUsed(now, 'two\n')).toBe(false);
  expect((await host.sandbox.files(now).read('node_modules/pkg/index.js')).data.toString()).toBe('two\n');
});

test('nothing begins with a folder that was not judged', async ({ workspace }) => {
  const { mount, source } = withFolders(workspace, 'node_modules');
  renameSync(join(source, 'node_modules'), join(source, 'old'));
  mkdirSync(join(source, 'node_modules'));
  await rejects(host.run(mount, 'touch ran'), 'ESANDBOXSETUP', { message: expect.stringContaining('node_modules') });
  await rejects(host.sandbox.files(mount).stat('.'), 'ESANDBOXSETUP');
  expect(existsSync(join(workspace.path, 'ran'))).toBe(false);
});

test.runIf(isRoot)('a folder in a closed home is shown', async ({ workspace }) => {
  const { source } = withFolders(workspace, 'node_modules');
  chmodSync(source, 0o700);
  const { stdout } = await host.run(
    judged(workspace, source, 'node_modules'),
    'cat node_modules/pkg/index.js; ls /mnt',
  );
  expect(stdout.text).toBe('module.exports = 1;\n');
});
