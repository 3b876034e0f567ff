/**
 * Test program: a worker that fetches a remote and kills itself at a named point. Arguments: JSON of the directory, the URL, the certificate,
 * the point and bubblewrap.
 */
import { join } from 'node:path';
import { openRemoteWorkspaces } from './remote-workspaces.ts';

const { root, url, certificate, point, run } = JSON.parse(process.argv[2] ?? '') as Record<string, string>;
const onPoint = (at: string) => void (at === point && process.kill(process.pid, 'SIGKILL'));
const opened = await openRemoteWorkspaces({
  root: root ?? '',
  certificate: certificate ?? '',
  url: url ?? '',
  onPoint,
});
await opened.workspaces.materialise({
  runId: run ?? '',
  source: { type: 'git', url: url ?? '', credentials: { secret: 'GIT_TOKEN' } },
  tenant: 'default',
});
process.stdout.write(join(root ?? '', 'done'));
await opened[Symbol.asyncDispose]();
