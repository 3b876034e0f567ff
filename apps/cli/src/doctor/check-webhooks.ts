import type { Client } from '@holdpoint/client';
import { counted, oneLine } from '../output/index.ts';
import { commandLine } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const name = 'webhooks';

/** Webhooks that send nothing, or whose receiver fails. Without webhooks there is no finding, and none without the right to read them. */
export async function checkWebhooks(client: Pick<Client, 'listWebhooks'>): Promise<Finding[]> {
  const webhooks = await client.listWebhooks().catch(() => []);
  if (webhooks.length === 0) return [];
  const troubled = webhooks.flatMap(({ name: webhook, status, off, failures, last_error, pending }): Finding[] => {
    const waiting = pending === 0 ? '' : `; events of ${counted(pending, 'run')} wait`;
    if (status === 'active') return [];
    const why =
      status === 'off'
        ? `is off: ${off?.reason ?? `${off?.by} switched it off`}`
        : `failed ${failures} times: ${last_error}`;
    const next =
      status === 'off'
        ? `Correct its receiver, then: ${commandLine('webhooks', 'on', webhook)}`
        : `Look at ${commandLine('webhooks', 'deliveries', webhook)}. It is tried again by itself.`;
    return [{ name, level: 'warn', text: `${webhook} ${oneLine(why, 300)}${waiting}`, next }];
  });
  return troubled.length > 0
    ? troubled
    : [{ name, level: 'ok', text: `${counted(webhooks.length, 'webhook')}, all deliver` }];
}
