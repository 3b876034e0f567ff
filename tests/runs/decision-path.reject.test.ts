import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bash, finished, nextApproval, plan, useSystem } from '../harness/index.ts';

const allowed = { rules: [{ match: { tool: ['bash', 'web_fetch'] }, action: 'allow' as const }] };

// The commands run only where the operator, too, allows what the built-in rules deny.
const directory = mkdtempSync(join(tmpdir(), 'hp-decision-path-'));
const policyFile = join(directory, 'policy.json');
writeFileSync(policyFile, JSON.stringify(allowed));
afterAll(() => rmSync(directory, { recursive: true }));

const system = useSystem({ workers: 2, env: () => ({ HOLDPOINT_POLICY: policyFile }) });
const { client } = system;

/** A run that waits for a person beside those that attack. */
async function victim() {
  const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
  const write = { tool: 'write_file', args: { path: 'a.txt', content: 'text' } };
  const { run } = await client.createRun({ plan: plan([write]), policy });
  return nextApproval(client, run.id);
}

/** What a command could try that has learned the address of the API, the key and the approval. */
function attempts(approval: { id: string; action_digest: string }): string[] {
  const { port } = new URL(system.api.url());
  const path = `/v1/approvals/${approval.id}/decision`;
  const body = JSON.stringify({ decision: 'approve', action_digest: approval.action_digest });
  const request = [
    `POST ${path} HTTP/1.0`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${system.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\\r\\n');
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '127.1'];
  return [
    ...hosts.map((host) => `printf '${request}' > /dev/tcp/${host.replace(/[[\]]/g, '')}/${port} && echo REACHED`),
    ...hosts.map(
      (host) =>
        `exec 3<>/dev/tcp/$(echo "$HTTP_PROXY" | sed 's#.*@##;s#.*//##;s#:# #' | awk '{print $1"/"$2}') && printf 'CONNECT ${host}:${port} HTTP/1.1\\r\\n\\r\\n' >&3 && head -c 12 <&3 | grep -q 200 && echo REACHED`,
    ),
    `cat ${join(system.dataDir, 'api-key')} && echo REACHED`,
    `ls ${system.dataDir} ${system.redis.address} && echo REACHED`,
    `tr '\\0' '\\n' < /proc/self/environ | grep -E 'HOLDPOINT|REDIS|${system.key}' && echo REACHED`,
    `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -E 'HOLDPOINT_KEY|REDIS_URL' && echo REACHED`,
  ];
}

test.each([
  ['without a network', []],
  ['with a network', ['example.org']],
])('a command %s that knows the key, the address and the approval decides nothing', async (_name, allow) => {
  const approval = await victim();
  const lines = attempts(approval);
  const command = lines.map((line) => `( ${line} ) 2>/dev/null`).join('\n');
  const fetching = { tool: 'web_fetch', args: { url: `${system.api.url()}/v1/approvals/${approval.id}` } };
  const { run } = await client.createRun({
    plan: {
      groups: [
        { on_error: 'continue', steps: [bash(`${command}\necho done`)] },
        { on_error: 'continue', steps: [fetching] },
      ],
    },
    network: { allow },
    policy: allowed,
  });
  await finished(client, run.id);
  const steps = (await client.listSteps(run.id)).data;
  const [tried, fetched] = await Promise.all(steps.map(({ id }) => client.getStep(id)));
  expect(tried?.status).toBe('succeeded');
  expect(tried?.result).toMatchObject({ stdout: 'done\n' });
  expect(fetched?.status).toBe('failed');
  expect(await client.getApproval(approval.id)).toMatchObject({ status: 'pending', decision: null });
});
