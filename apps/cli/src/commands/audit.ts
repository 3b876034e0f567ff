import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { AuditFinding, AuditHead, AuditReport } from '@holdpoint/client';
import type { AuditFilter } from '@holdpoint/engine/audit';
import { Command, InvalidArgumentError, Option } from 'commander';
import { plain } from '../output/index.ts';
import { CliError, commandLine, exitCodes, type Shell } from '../shell/index.ts';
import { openHere } from '../system/index.ts';

export function auditGroup(shell: Shell): Command {
  const audit = new Command('audit').description('what was called and decided, sealed in a chain');
  audit.addCommand(verifyAuditCommand(shell));
  audit.addCommand(auditHeadCommand(shell));
  audit.addCommand(exportAuditCommand(shell));
  return audit;
}

interface AuditOptions {
  url?: string;
  json?: true;
}

/** Commands on the data directory and its Redis, or on an API given by address. */
function auditSubcommand(name: string, summary: string): Command {
  const url = new Option('--url <address>', 'ask the API at this address (default: read the data directory and Redis)');
  return new Command(name).description(summary).addOption(url);
}

const verifyHelp = `
Compares every record with its hash and with the record before it, every sealed event with the log of its run, and every decision by passkey
with its signature. Works while the system runs and while it does not. Events that are not sealed yet are counted. Exits 1 when anything is not as it was sealed.`;

export function verifyAuditCommand(shell: Shell): Command {
  return auditSubcommand('verify', 'find changed, missing and reordered records and events')
    .option('--head <seq:hash>', 'a head that was kept elsewhere (`audit head`)', headFrom)
    .option('--file <export>', 'check an export (`audit export`), without Redis and the data directory')
    .option('--json', 'one JSON object')
    .addHelpText('after', verifyHelp)
    .action(({ file, ...options }: VerifyOptions & { file?: string }) =>
      file === undefined ? verify(shell, options) : verifyFile(shell, file, options),
    );
}

type VerifyOptions = AuditOptions & { head?: AuditHead };

async function verifyFile(shell: Shell, file: string, { json, head }: VerifyOptions): Promise<void> {
  const path = resolve(shell.config.cwd, file);
  if (!existsSync(path)) throw new CliError('not_found', `There is no file ${path}.`);
  const { verifyExport } = await import('@holdpoint/engine/audit');
  const report = await verifyExport(path, { kept: head });
  if (!report.ok) shell.exitCode = exitCodes.failed;
  if (json) return shell.printJson(report);
  printFindings(shell, report);
  const gaps = report.gaps === 0 ? '' : `, with ${report.gaps} gaps between them`;
  shell.print(`${report.records} records${gaps}`);
  for (const line of conclusion(report)) shell.print(line);
}

async function verify(shell: Shell, { url, json, head }: VerifyOptions): Promise<void> {
  const report = await askOr(shell, url, {
    api: (client) => client.verifyAudit({ head: head && textOf(head) }),
    here: (audit) => audit.verify({ kept: head }),
  });
  if (!report.ok) shell.exitCode = exitCodes.failed;
  if (json) return shell.printJson(report);
  printFindings(shell, report);
  for (const { run_id, events, digest } of report.removed) {
    shell.print(`removed  ${plain(run_id)}: ${events} sealed events, digest ${digest}`);
  }
  for (const line of summary(report)) shell.print(line);
}

type Found = Pick<AuditReport, 'ok' | 'head' | 'findings' | 'findings_total'>;

function printFindings(shell: Shell, { findings, findings_total }: Found): void {
  for (const finding of findings) shell.print(`${shell.colors.red(finding.code)}  ${plain(placed(finding))}`);
  const more = findings_total - findings.length;
  if (more > 0) shell.print(`${more} further findings`);
}

function placed({ message, file, line }: AuditFinding): string {
  return file === undefined ? message : `${message} (${file}, line ${line})`;
}

function summary({ records, runs, events, ...found }: AuditReport): string[] {
  const counts = `${records} records, ${events.sealed} sealed events of ${runs} runs, ${events.unsealed} events not sealed yet`;
  return [counts, ...conclusion(found)];
}

function conclusion({ ok, head, findings_total }: Found): string[] {
  return [
    `head ${textOf(head)}`,
    ok ? 'Everything is as it was sealed.' : `${findings_total} findings: not everything is as it was sealed.`,
  ];
}

export function auditHeadCommand(shell: Shell): Command {
  return auditSubcommand('head', 'print the last record as SEQ:HASH, to keep it elsewhere')
    .option('--json', 'one JSON object')
    .action(async ({ url, json }: AuditOptions) => {
      const head = await askOr(shell, url, { api: (client) => client.auditHead(), here: (audit) => audit.head() });
      if (json) shell.printJson(head);
      else shell.print(textOf(head));
      shell.say(`Keep it elsewhere. To compare later: ${commandLine('audit', 'verify', '--head', 'SEQ:HASH')}`);
    });
}

export function exportAuditCommand(shell: Shell): Command {
  return auditSubcommand('export', 'print the records as JSON lines, as they were sealed')
    .option(
      '--since <time>',
      'what happened at this time or later: an ISO date, or an age such as 30d or 12h',
      sinceFrom,
    )
    .option('--run <run>', 'records of this run only')
    .action(async ({ url, since, run }: AuditOptions & { since?: string; run?: string }) => {
      const filter: AuditFilter = { since, run_id: run };
      if (asksApi(shell, url)) {
        const client = await shell.connect(url);
        return shell.pipe(await client.exportAudit(filter));
      }
      const { openAudit } = await import('@holdpoint/engine/audit');
      await using redis = await openHere(shell.config);
      const audit = openAudit({ redis: redis.connections.state, dataDir: shell.config.dataDir });
      await shell.pipe(Readable.from(withFeeds(audit.lines(filter))));
    });
}

async function* withFeeds(lines: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}

type Client = Awaited<ReturnType<Shell['connect']>>;
type Audit = ReturnType<typeof import('@holdpoint/engine/audit').openAudit>;

const asksApi = ({ config }: Shell, url: string | undefined): boolean => (url ?? config.url) !== undefined;

async function askOr<Answer>(
  shell: Shell,
  url: string | undefined,
  { api, here }: { api: (client: Client) => Promise<Answer>; here: (audit: Audit) => Promise<Answer> },
): Promise<Answer> {
  if (asksApi(shell, url)) return api(await shell.connect(url));
  // A lazy import: only these commands need the module.
  const { openAudit } = await import('@holdpoint/engine/audit');
  await using redis = await openHere(shell.config);
  return await here(openAudit({ redis: redis.connections.state, dataDir: shell.config.dataDir }));
}

const textOf = ({ seq, hash }: AuditHead): string => `${seq}:${hash}`;

function headFrom(text: string): AuditHead {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError('Expected SEQ:HASH, as `audit head` prints it.');
  return { seq: Number(seq), hash };
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** @returns ISO 8601, UTC */
function sinceFrom(text: string): string {
  const [, number, unit] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  const at = number === undefined ? Date.parse(text) : Date.now() - Number(number) * units[unit as keyof typeof units];
  if (Number.isNaN(at)) throw new InvalidArgumentError('Expected a date such as 2026-05-01, or an age such as 30d.');
  return new Date(at).toISOString();
}
