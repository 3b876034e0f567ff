import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { openSandbox } from './open-sandbox.ts';
import { selectRuntime } from './runtimes.ts';
import { useTestHost } from './testing/host.ts';

const { host, test } = useTestHost();

/** A program that says a version, in a layout of a version manager. */
function program(folder: string, path: string, says: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), `#!/bin/sh\necho "${says}"\n`, { mode: 0o755 });
}

test('the runtimes of version managers are found, and the chosen one comes first', async ({ workspace }) => {
  const folder = join(host.directory, 'managers');
  program(folder, 'nvm/versions/node/v21.3.0/bin/node', 'v21.3.0');
  program(folder, 'nvm/versions/node/v21.3.0/bin/npm', 'npm of 21');
  program(folder, 'fnm/node-versions/v19.1.0/installation/bin/node', 'v19.1.0');
  program(folder, 'mise/installs/python/3.7.1/bin/python3', 'Python 3.7.1');
  program(folder, 'pyenv/versions/3.6.9/bin/python3', 'Python 3.6.9');
  program(folder, 'odd/versions/node/v1.2.3/bin/node', 'not a version');
  const toolchains = ['nvm', 'fnm', 'mise', 'pyenv', 'odd'].map((name) => join(folder, name));
  await using sandbox = await openSandbox({ ...host.options, toolchains });
  const found = await sandbox.runtimes(workspace);
  const versions = found.map(({ version }) => version);
  expect(versions).toEqual(expect.arrayContaining(['21.3.0', '19.1.0', '3.7.1', '3.6.9', process.versions.node]));
  expect(versions).not.toContain('1.2.3');
  expect(found.filter(({ isOwn }) => isOwn)).toMatchObject([{ version: process.versions.node, isFirst: false }]);

  const signal = AbortSignal.timeout(60_000);
  const says = async (line: string, first?: ReturnType<typeof selectRuntime>) => {
    const { stdout } = await sandbox.run({
      workspace: { ...workspace, first },
      argv: ['/bin/bash', '-c', line],
      signal,
    });
    return stdout.text.trim();
  };
  const chosen = (version: string) => {
    const runtime = found.find((one) => one.version === version);
    return runtime && selectRuntime(runtime);
  };
  expect(await says('node; npm', chosen('21.3.0'))).toBe('v21.3.0\nnpm of 21');
  expect(await says('python3', chosen('3.7.1'))).toBe('Python 3.7.1');
  // A runtime of the system is linked: the order of its other programs stays.
  const linked = selectRuntime({ language: 'python', path: '/usr/bin/env', version: '3.1.1', isFirst: false });
  expect(await says('python3 echo linked; python echo too', linked)).toBe('linked\ntoo');
  expect(await says('touch /opt/holdpoint/first/bin/x || echo read-only', linked)).toBe('read-only');
});

test("Holdpoint's own Node comes last on PATH", async ({ workspace }) => {
  const { stdout } = await host.run(workspace, 'echo $PATH; command -v node');
  const [path = '', node] = stdout.text.trim().split('\n');
  expect(path.split(':').at(-1)).toBe('/opt/holdpoint/node/bin');
  const hostHasNode = ['/usr/local/bin/node', '/usr/bin/node'].find((one) => existsSync(one));
  expect(node).toBe(hostHasNode ?? '/opt/holdpoint/node/bin/node');
});
