import { createClient } from '@holdpoint/client';

const { HOLDPOINT_URL = 'http://127.0.0.1:4747', HOLDPOINT_KEY = '' } = process.env;
const client = createClient({ baseUrl: HOLDPOINT_URL, key: HOLDPOINT_KEY });
const steps = [{ tool: 'write_file', args: { path: 'hello.txt', content: 'hello\n' } }];
const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
const { run } = await client.createRun({ plan: { groups: [{ steps }] }, policy });
for await (const event of client.events(run.id)) {
  if (event.type !== 'approval.requested') continue;
  const { id, action_digest } = await client.getApproval(event.data.approval_id);
  await client.decideApproval(id, { decision: 'approve', action_digest });
}
process.stdout.write(await client.patch(run.id));
await client.close();
