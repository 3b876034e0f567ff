import { deepEqual, equal } from 'node:assert/strict';
import { createClient, openRunBackend } from '@holdpoint/client';
import { createSageRegistry } from '@holdpoint/tools/registries';
import { chronicle, sealedCalls, temporaryWorkspace } from '@holdpoint/tools/testing';

const { HOLDPOINT_URL = 'http://127.0.0.1:4747', HOLDPOINT_KEY = '' } = process.env;
const client = createClient({ baseUrl: HOLDPOINT_URL, key: HOLDPOINT_KEY });
await using workspace = await temporaryWorkspace({ 'a.txt': 'a\n' });
const source = { type: 'directory', path: workspace.path } as const;
const { run } = await client.createRun({
  ...{ open: true, toolset: 'sage', permissions: ['fs:read', 'fs:write:a.txt'], workspace: { source } },
});

// The tested work: here two calls, usually an agent.
const recorded = chronicle(openRunBackend(client, run));
const tools = createSageRegistry(recorded);
await tools.get('Write').execute({ file: 'a.txt', content: 'b\n' });
await tools.get('Write').execute({ file: 'c.txt', content: 'c\n' });

// The calls in order, with the answers of the tools.
deepEqual(
  recorded.calls.map(({ tool, args, result }) => [tool, args, (result as { ok: boolean }).ok]),
  [
    ['Write', { file: 'a.txt', content: 'b\n' }, true],
    ['Write', { file: 'c.txt', content: 'c\n' }, false],
  ],
);
// The audit log of the same calls: the permission of each call, and its changes.
const sealed = await sealedCalls(client, run.id);
deepEqual(
  sealed.map(({ tool, verdict, outcome }) => [tool, verdict?.action, outcome.status]),
  [
    ['Write', 'allow', 'succeeded'],
    ['Write', 'deny', 'rejected'],
  ],
);
await client.finishRun(run.id);
await client.waitForRun(run.id);
await client.publish(run.id);
equal(
  (await workspace.changes()).map(({ diff }) => diff).join(''),
  '--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n',
);
await client.close();
process.stdout.write('recorded 2 calls\n');
