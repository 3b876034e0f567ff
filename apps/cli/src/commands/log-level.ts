import { type LogLevel, logLevelSchema } from '@holdpoint/contract/wire';
import { Argument, Command, Option } from 'commander';
import type { Shell } from '../shell/index.ts';

export const logLevelCommand = (shell: Shell): Command =>
  new Command('log-level')
    .description('change what running processes log, until they end')
    .addArgument(
      new Argument('<level>', '`default`: the level that each was started with').choices(logLevelSchema.options),
    )
    .addOption(new Option('--of <processes>', 'which processes').choices(['api', 'workers', 'all']).default('all'))
    .option('--json', 'one JSON object')
    .action((level: LogLevel, options: { of: 'api' | 'workers' | 'all'; json?: true }) => set(shell, level, options));

async function set(shell: Shell, level: LogLevel, { of, json }: { of: 'api' | 'workers' | 'all'; json?: true }) {
  const client = await shell.connect();
  const reached = await client.setLogLevel({ level, of });
  if (json) return shell.printJson(reached);
  const whose = of === 'all' ? 'all processes log' : of === 'api' ? 'the API logs' : 'workers log';
  shell.print(`${reached.processes} processes were asked; ${whose} at ${level}`);
}
