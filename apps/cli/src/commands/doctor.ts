import type { Worker } from '@holdpoint/client/wire/operation';
import { Command } from 'commander';
import { keyFileOf } from '../connection.ts';
import type { Finding } from '../doctor/finding.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Colors } from '../output/colors.ts';
import { plain } from '../output/plain.ts';
import { tell } from '../report-error.ts';
import type { Shell } from '../shell.ts';
import { isAlive } from '../system/process-identity.ts';
import { readSystemRecord } from '../system/system-record.ts';

export function doctorCommand(shell: Shell): Command {
  return new Command('doctor')
    .description('check what Holdpoint needs on this machine, and what to do where something is missing')
    .option('--json', 'one JSON object')
    .action(({ json }: { json?: true }) => doctor(shell, json === true));
}

async function doctor(shell: Shell, json: boolean): Promise<void> {
  const findings = await examine(shell);
  const ok = findings.every(({ level }) => level !== 'fail');
  if (!ok) shell.exitCode = exitCodes.failed;
  if (json) return shell.printJson({ ok, findings });
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, level, text, next } of findings) {
    shell.print(`${markOf(level, shell.colors)}  ${name.padEnd(width)}  ${plain(text)}`);
    if (next !== undefined) shell.print(`${' '.repeat(width + 8)}${shell.colors.dim(plain(next))}`);
  }
}

async function examine(shell: Shell): Promise<Finding[]> {
  const { config } = shell;
  // Loaded here: they bring the sandbox and a Redis client, which no other command needs.
  const [files, node, redis, sandbox, programs] = await Promise.all([
    import('../doctor/check-files.ts'),
    import('../doctor/check-node.ts'),
    import('../doctor/check-redis.ts'),
    import('../doctor/check-sandbox.ts'),
    import('../doctor/check-programs.ts'),
  ]);
  const record = readSystemRecord(config.dataDir);
  const running = record !== undefined && isAlive(record) ? record : undefined;
  const { finding: api, workers } = await askApi(shell, running !== undefined || config.url !== undefined);
  return [
    node.checkNode(process.versions.node),
    ...(await programs.checkPrograms(config)),
    await files.checkDataDirectory(config.dataDir),
    await files.checkKeyFile(keyFileOf(config)),
    ...(await redis.checkRedis(config, running?.redis_socket ?? undefined)),
    ...(await sandbox.checkSandbox(config, workers[0]?.capabilities)),
    api,
  ];
}

async function askApi(shell: Shell, expected: boolean): Promise<{ finding: Finding; workers: Worker[] }> {
  const name = 'api';
  if (!expected) return { finding: { name, level: 'ok', text: 'not running (npm start)' }, workers: [] };
  try {
    const workers = await (await shell.connect()).listWorkers();
    if (workers.length > 0)
      return { finding: { name, level: 'ok', text: `answers; ${workers.length} workers` }, workers };
    const next = 'Start one: npm start, or node apps/worker/src/main.ts.';
    return { finding: { name, level: 'warn', text: 'answers, but no worker is alive: runs wait', next }, workers };
  } catch (error) {
    const { message, next } = tell(error);
    return { finding: { name, level: 'fail', text: message, ...(next === undefined ? {} : { next }) }, workers: [] };
  }
}

function markOf(level: Finding['level'], colors: Colors): string {
  switch (level) {
    case 'ok':
      return colors.green('ok  ');
    case 'warn':
      return colors.yellow('warn');
    case 'fail':
      return colors.red('fail');
    default:
      return level satisfies never;
  }
}
