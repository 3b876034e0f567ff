import type { QuotaLimits } from '@holdpoint/contract';
import type { QuotaView } from '@holdpoint/contract/wire';
import { Command } from 'commander';
import { table } from '../output/index.ts';
import { type ApiOptions, apiCommand, CliError, type Shell, several } from '../shell/index.ts';

export function quotasGroup(shell: Shell): Command {
  const quotas = new Command('quotas').description('how much a tenant and each of its persons may use');
  quotas.addCommand(showQuotasCommand(shell));
  quotas.addCommand(setQuotasCommand(shell));
  return quotas;
}

const names = [
  'runs_at_once',
  'runs_per_day',
  'tokens_per_day',
  'cost_usd_per_day',
] as const satisfies (keyof QuotaLimits)[];

export const showQuotasCommand = (shell: Shell): Command =>
  apiCommand('show', 'show the quotas of a tenant, and what is used of them today')
    .argument('[tenant]', 'default: your own; another one needs the scope queues:admin')
    .action(async (tenant: string | undefined, { url, json }: ApiOptions) => {
      const view = await (await shell.connect(url)).getQuotas(tenant);
      if (json) return shell.printJson(view);
      print(shell, view);
    });

interface SetOptions extends ApiOptions {
  tenant: string[];
  person: string[];
}

export const setQuotasCommand = (shell: Shell): Command =>
  apiCommand('set', 'replace the quotas of a tenant: what is not named does not bind')
    .argument('<name>', 'the tenant')
    .option('--tenant <quota=most>', `for the tenant as a whole (${names.join(', ')}); several times`, several, [])
    .option('--person <quota=most>', 'for each person of the tenant; several times', several, [])
    .action(async (name: string, { url, json, tenant, person }: SetOptions) => {
      const body = { tenant: limitsOf(tenant), person: limitsOf(person) };
      const view = await (await shell.connect(url)).putQuotas(name, body);
      if (json) return shell.printJson(view);
      print(shell, view);
    });

/** @throws CliError `usage` */
function limitsOf(given: readonly string[]): QuotaLimits {
  return Object.fromEntries(
    given.map((text) => {
      const [quota = '', most = ''] = text.split('=');
      const isKnown = (names as readonly string[]).includes(quota);
      if (isKnown && Number(most) > 0) return [quota, Number(most)];
      const next = `Write QUOTA=NUMBER, with one of ${names.join(', ')}.`;
      throw new CliError('usage', `${JSON.stringify(text)} is no quota.`, { next });
    }),
  );
}

function print(shell: Shell, { tenant, quotas, used, own, frees_at }: QuotaView): void {
  const rows = names.map((quota) => [
    ...[quota, shown(quotas.tenant[quota]), quota === 'runs_at_once' ? '' : String(used[quota])],
    ...[shown(quotas.person[quota]), own === null || quota === 'runs_at_once' ? '' : String(own[quota])],
  ]);
  for (const line of table(['QUOTA', 'TENANT', 'USED', 'EACH PERSON', 'USED BY YOU'], rows)) shell.print(line);
  shell.say(`Those of a day of ${tenant} free at ${frees_at}.`);
}

const shown = (most: number | undefined): string => (most === undefined ? 'none' : String(most));
