import type { Client } from '@holdpoint/client';
import type { Webhook, WebhookWithSecret } from '@holdpoint/contract/wire';
import { type Command, Option } from 'commander';
import { type ApiOptions, apiCommand, CliError, type Shell, wholeNumber } from '../../shell/index.ts';
import { webhookText } from './read-webhooks.ts';

interface PutOptions extends ApiOptions {
  events: string[];
  label: string[];
  signature?: 'v1' | 'v1a';
  note?: string;
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];
const named = (name: string, about: string): Command =>
  apiCommand(name, about).argument('<name>', 'name of the webhook');

export function putWebhookCommand(shell: Shell): Command {
  return named('put', 'create or replace a webhook')
    .argument('<address>', 'https address of the receiver')
    .requiredOption('--events <types...>', 'event types such as run.failed, families such as approval.*, or *')
    .option('--label <name=value>', 'only of runs with this label; may be repeated', collect, [])
    .addOption(new Option('--signature <kind>', 'HMAC with a secret, or Ed25519').choices(['v1', 'v1a']))
    .option('--note <text>', 'for people')
    .action(async (name: string, address: string, { url, json, events, label, signature, note }: PutOptions) => {
      const body = { url: address, events, labels: labelsOf(label), signature, note };
      const made = await (await shell.connect(url)).putWebhook(name, body);
      if (json) return shell.printJson(made);
      show(shell, made);
    });
}

export const rotateCommand = (shell: Shell): Command =>
  named('rotate', 'make a new secret; both sign for 24 hours').action(
    async (name: string, { url, json }: ApiOptions) => {
      const made = await (await shell.connect(url)).rotateWebhook(name);
      if (json) return shell.printJson(made);
      show(shell, made);
    },
  );

function show(shell: Shell, { webhook, secret }: WebhookWithSecret): void {
  for (const line of webhookText(webhook, Date.now())) shell.print(line);
  if (secret === null) return;
  shell.print(`secret     ${secret}`);
  shell.say('The secret is not shown again: give it to the receiver now.');
}

/** @throws CliError `usage` */
function labelsOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((text) => {
    const at = text.indexOf('=');
    if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
    throw new CliError('usage', `--label ${text} has no value`, { next: 'Write --label NAME=VALUE.' });
  });
  return Object.fromEntries(pairs);
}

const steer =
  (shell: Shell, act: (client: Client, name: string, options: { reason?: string }) => Promise<Webhook>) =>
  async (name: string, options: ApiOptions & { reason?: string }): Promise<void> => {
    const webhook = await act(await shell.connect(options.url), name, options);
    if (options.json) return shell.printJson(webhook);
    for (const line of webhookText(webhook, Date.now())) shell.print(line);
  };

export const offCommand = (shell: Shell): Command =>
  named('off', 'send nothing until it is switched on; events wait')
    .option('--reason <text>', 'why')
    .action(steer(shell, (client, name, { reason }) => client.switchOffWebhook(name, reason)));

export const onCommand = (shell: Shell): Command =>
  named('on', 'send what waits, now and in order').action(steer(shell, (client, name) => client.switchOnWebhook(name)));

export const deleteWebhookCommand = (shell: Shell): Command =>
  named('delete', 'delete a webhook; what waits for it is not sent').action(
    async (name: string, { url, json }: ApiOptions) => {
      const webhook = await (await shell.connect(url)).deleteWebhook(name);
      if (json) return shell.printJson(webhook);
      shell.print(`${webhook.name} is deleted`);
    },
  );

export const testWebhookCommand = (shell: Shell): Command =>
  named('test', 'send a test event now, and print the answer').action(
    async (name: string, { url, json }: ApiOptions) => {
      const sent = await (await shell.connect(url)).testWebhook(name);
      if (json) shell.printJson(sent);
      if (!sent.delivered)
        throw new CliError('not_delivered', `the receiver of ${name} did not take it: ${sent.error ?? ''}`);
      if (!json) shell.print(`delivered: it answered ${sent.status} after ${sent.ms} ms`);
    },
  );

export const redeliverCommand = (shell: Shell): Command =>
  named('redeliver', 'send an event once more, under the same id')
    .argument('<run>', 'id of its run')
    .argument('<seq>', 'number of the event: `holdpoint webhooks deliveries NAME` shows it', wholeNumber)
    .action(async (name: string, runId: string, seq: number, { url, json }: ApiOptions) => {
      const webhook = await (await shell.connect(url)).redeliverEvent(name, { run_id: runId, seq });
      if (json) return shell.printJson(webhook);
      shell.print(`event ${seq} of ${runId} is sent again`);
    });
