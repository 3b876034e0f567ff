import type { DeliveryTry } from '@holdpoint/contract';
import type { Webhook } from '@holdpoint/contract/wire';
import type { Command } from 'commander';
import { counted, pairs, plain, table } from '../../output/index.ts';
import { sayDamaged } from '../../output/layout.ts';
import { until } from '../../output/units.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../../shell/index.ts';

export function listWebhooksCommand(shell: Shell): Command {
  return apiCommand('list', 'list webhooks by name').action(async ({ url, json }: ApiOptions) => {
    const data = await (await shell.connect(url)).listWebhooks({
      onDamaged: (damaged) => sayDamaged(shell, { damaged }),
    });
    if (json) return shell.printJson({ data });
    const rows = data.map((one) => [
      ...[one.name, one.status, plain(one.url), one.events.map(plain).join(' '), String(one.pending)],
      one.last_delivered?.slice(0, 19) ?? '-',
    ]);
    const head = [
      { text: 'WEBHOOK' },
      'STATUS',
      { text: 'URL' },
      { text: 'EVENTS' },
      'WAITING',
      'LAST DELIVERED (UTC)',
    ];
    for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
  });
}

export function showWebhookCommand(shell: Shell): Command {
  return apiCommand('show', 'print a webhook')
    .alias('get')
    .argument('<name>', 'name of the webhook')
    .action(async (name: string, { url, json }: ApiOptions) => {
      const webhook = await (await shell.connect(url)).getWebhook(name);
      if (json) return shell.printJson(webhook);
      for (const line of webhookText(webhook, Date.now())) shell.print(line);
    });
}

export function deliveriesCommand(shell: Shell): Command {
  return apiCommand('deliveries', 'print the last requests to its receiver, newest first')
    .argument('<name>', 'name of the webhook')
    .option('--limit <number>', 'at most this many', count)
    .action(async (name: string, { url, json, limit }: ApiOptions & { limit?: number }) => {
      const data = await (await shell.connect(url)).listDeliveries(name, { limit });
      if (json) return shell.printJson({ data });
      const rows = data.map((one) => [
        ...[one.at.slice(0, 19), plain(one.type), one.run_id, String(one.seq), `${one.ms} ms`, outcomeText(one)],
      ]);
      const head = ['AT (UTC)', { text: 'EVENT' }, { id: 'RUN' }, 'SEQ', 'TIME', { text: 'OUTCOME' }];
      for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
    });
}

/** A webhook in lines for a person. */
export function webhookText(webhook: Webhook, now: number): string[] {
  const { off, failures, failing_since, next_try, pending, dropped, public_key, signs_with_both_until } = webhook;
  const labels = Object.entries(webhook.labels).map(([name, value]) => `${name}=${value}`);
  return pairs({
    webhook: `${webhook.name}, version ${webhook.version}, ${webhook.status}`,
    off: off && `by ${plain(off.by)} at ${off.at}${off.reason === undefined ? '' : `: ${plain(off.reason)}`}`,
    url: plain(webhook.url),
    events: webhook.events.map(plain).join('\n'),
    labels: labels.length === 0 ? null : labels.map(plain).join('\n'),
    signature: webhook.signature,
    'public key': public_key,
    'signs with both secrets': signs_with_both_until && `until ${signs_with_both_until}`,
    note: webhook.note === undefined ? null : plain(webhook.note),
    failing: failures > 0 ? `failed ${failures} times since ${failing_since}` : null,
    'next try': off === null && next_try !== null ? `${next_try} (${until(next_try, now)})` : null,
    'last error': webhook.last_error && plain(webhook.last_error),
    waiting: pending > 0 ? `events of ${counted(pending, 'run')}` : null,
    'left out': dropped > 0 ? `${counted(dropped, 'event')}: too many runs waited` : null,
    'last delivered': webhook.last_delivered,
  });
}

function outcomeText({ outcome, status, error, redelivered }: DeliveryTry): string {
  const what = outcome === 'delivered' ? `delivered, ${status}` : `failed: ${plain(error ?? '')}`;
  return redelivered === true ? `${what} (sent again)` : what;
}
