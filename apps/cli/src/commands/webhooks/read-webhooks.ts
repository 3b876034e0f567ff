import type { Command } from 'commander';
import { plain, table } from '../../output/index.ts';
import { sayDamaged } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../../shell/index.ts';
import { outcomeText, webhookText } from './webhook-text.ts';

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
