/** Test program: opens the sandbox as its own user, runs one command and prints the result. Arguments: directory, bwrap, shell line. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSandbox } from '../open-sandbox.ts';

const [directory = '', bwrapPath = '', line = ''] = process.argv.slice(2);
const path = join(directory, 'workspace');
mkdirSync(path, { mode: 0o700 });
await using sandbox = await openSandbox({
  policy: 'require',
  allowUnsandboxed: false,
  stateDir: join(directory, 'state'),
  bwrapPath,
});
const workspace = { id: 'run_once', path, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const result = await sandbox.run({ workspace, argv: ['/bin/bash', '-c', line], signal: new AbortController().signal });
const content = await sandbox.files(workspace).read('made');
process.stdout.write(
  JSON.stringify({
    end: result.end,
    stdout: result.stdout.text,
    made: content.data.toString(),
    report: sandbox.capabilities,
  }),
);
