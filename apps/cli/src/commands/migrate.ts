import { dataFormat, migrate, pendingMigrations, readInstallation } from '@holdpoint/engine/installation';
import { Command } from 'commander';
import { commandLine } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';
import { openStopped } from '../system/open-stopped.ts';

interface MigrateOptions {
  yes?: true;
  json?: true;
}

const help = `
The data directory and Redis carry the number of their data format. A version that reads another format refuses to start on them. This
command changes both to the format of this version. Back up both first: an earlier version cannot read them afterwards. When it is
interrupted, run it again: it continues.`;

export function migrateCommand(shell: Shell): Command {
  return new Command('migrate')
    .description('migrate the data of an earlier version to the format of this version')
    .option('--yes', 'migrate; without this option the command only shows what it would do')
    .option('--json', 'one JSON object')
    .addHelpText('after', help)
    .action((options: MigrateOptions) => migrateData(shell, options));
}

async function migrateData(shell: Shell, { yes, json }: MigrateOptions): Promise<void> {
  const { dataDir } = shell.config;
  await using redis = await openStopped(shell.config);
  const { connections } = redis;
  const pending = pendingMigrations(await readInstallation({ redis: connections.state, dataDir }));
  if (yes) await migrate({ connections, dataDir });
  const migrated = yes === true && pending.length > 0;
  const steps = pending.map(({ from, to, title }) => ({ from, to, title }));
  if (json) shell.printJson({ format: dataFormat, migrated, migrations: steps });
  else for (const { from, to, title } of steps) shell.print(`format ${from} to ${to}: ${title}`);
  if (migrated) return shell.say(`The data now has format ${dataFormat}.`);
  if (pending.length === 0) return shell.say(`Nothing to do: the data has format ${dataFormat}.`);
  shell.say(`Nothing was changed. To migrate: ${commandLine('migrate', '--yes')}`);
  shell.exitCode = exitCodes.failed;
}
