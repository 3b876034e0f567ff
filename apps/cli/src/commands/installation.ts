import type { InstallationState } from '@holdpoint/engine/installation';
import { Command } from 'commander';
import { type Config, commandLine, exitCodes, type Shell } from '../shell/index.ts';
import { openStopped } from '../system/index.ts';

/** A lazy import: only these commands need the module. */
const installation = () => import('@holdpoint/engine/installation');

interface AdoptOptions {
  copy?: true;
  yes?: true;
  json?: true;
}

const adoptHelp = `
A data directory holds the files of runs, and Redis their logs. Both carry the id of one installation. Every program refuses a pair that
does not match: a wrong REDIS_URL, a wrong HOLDPOINT_DATA, or a Redis that came back empty. Use this command only when you know that the
two belong together. Folders of runs without a log in Redis move to trash/ in the data directory for a week.

A copied data directory has the id of its original, and nothing starts on it while the original is there. --copy gives the copy, and its
Redis, an id and an API key of their own. Its runs are copies, too: an open one continues in both, and both would publish it.`;

export const adoptCommand = (shell: Shell): Command =>
  new Command('adopt')
    .description('declare that this data directory and this Redis belong together')
    .option('--copy', 'make a copy of both an installation of its own, with a new id and a new key')
    .option('--yes', 'bind them; without this option the command only shows what it would do')
    .option('--json', 'one JSON object')
    .addHelpText('after', adoptHelp)
    .action((options: AdoptOptions) => (options.copy ? separate(shell, options) : adopt(shell, options)));

async function adopt(shell: Shell, { yes, json }: AdoptOptions): Promise<void> {
  const { config } = shell;
  const { adoptInstallation, checkDataDirFormat, checkFormat, countUnknownRuns, readInstallation, refuseCopy } =
    await installation();
  refuseCopy(config.dataDir);
  await checkDataDirFormat(config.dataDir);
  await using redis = await openStopped(config);
  const sides = { redis: redis.connections.state, dataDir: config.dataDir };
  const before = await readInstallation(sides);
  checkFormat(before);
  const unknown = await countUnknownRuns(sides);
  const isBound = before.dataDir.id !== undefined && before.dataDir.id === before.redis.id;
  const id = isBound || yes !== true ? undefined : await adoptInstallation(sides);
  if (json) shell.printJson({ bound: isBound || id !== undefined, adopted: id !== undefined, ...before, unknown });
  else for (const line of describe(config, redis.label, before, unknown)) shell.print(line);
  if (isBound) return shell.say('They already belong together; nothing was changed.');
  if (id !== undefined) return shell.say(`They now belong together as installation ${id}.`);
  shell.say(`Nothing was changed. To bind them: ${commandLine('adopt', '--yes')}`);
  shell.exitCode = exitCodes.failed;
}

/** `adopt --copy` */
async function separate(shell: Shell, { yes, json }: AdoptOptions): Promise<void> {
  const { config } = shell;
  const { adoptCopy, checkCopy, readInstallation } = await installation();
  await using redis = await openStopped(config);
  const { connections } = redis;
  const before = await readInstallation({ redis: connections.state, dataDir: config.dataDir });
  checkCopy(before);
  const id = yes === true ? await adoptCopy({ connections, dataDir: config.dataDir }) : undefined;
  if (json) shell.printJson({ adopted: id !== undefined, id: id ?? null, ...before });
  else for (const line of describe(config, redis.label, before, 0)) shell.print(line);
  if (id !== undefined) return shell.say(`They are installation ${id} now; the next start makes a new API key.`);
  if (config.redisUrl !== undefined)
    shell.say('This Redis has to be a copy, too: the original could not use it any more.');
  shell.say(`Nothing was changed. To give them an id of their own: ${commandLine('adopt', '--copy', '--yes')}`);
  shell.exitCode = exitCodes.failed;
}

function describe({ dataDir }: Config, redis: string, state: InstallationState, unknown: number): string[] {
  const of = (id: string | undefined): string => (id === undefined ? 'no installation' : `installation ${id}`);
  return [
    `data directory  ${dataDir}: of ${of(state.dataDir.id)}, with the files of ${state.dataDir.runs} runs`,
    `Redis           ${redis}: of ${of(state.redis.id)}, with the logs of ${state.redis.runs} runs`,
    ...(unknown === 0
      ? []
      : [`${unknown} runs have files here but no log in Redis: their folders would move to trash/.`]),
  ];
}

interface MigrateOptions {
  yes?: true;
  json?: true;
}

const migrateHelp = `
The data directory and Redis carry the number of their data format. A version that reads another format refuses to start on them. This
command changes both to the format of this version. Back up both first: an earlier version cannot read them afterwards. When it is
interrupted, run it again: it continues.`;

export const migrateCommand = (shell: Shell): Command =>
  new Command('migrate')
    .description('migrate the data of an earlier version to the format of this version')
    .option('--yes', 'migrate; without this option the command only shows what it would do')
    .option('--json', 'one JSON object')
    .addHelpText('after', migrateHelp)
    .action((options: MigrateOptions) => migrateData(shell, options));

async function migrateData(shell: Shell, { yes, json }: MigrateOptions): Promise<void> {
  const { dataDir } = shell.config;
  const { dataFormat, migrate, pendingMigrations, readInstallation, refuseCopy } = await installation();
  refuseCopy(dataDir);
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
