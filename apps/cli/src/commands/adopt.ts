import {
  adoptInstallation,
  checkAdoptable,
  checkDataDirFormat,
  countUnknownRuns,
  type InstallationState,
  readInstallation,
} from '@holdpoint/engine/installation';
import { Command } from 'commander';
import { commandLine } from '../command-name.ts';
import type { Config } from '../config.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';
import { openStopped } from '../system/open-stopped.ts';

interface AdoptOptions {
  yes?: true;
  json?: true;
}

const help = `
A data directory holds the files of runs, and Redis their logs. Both carry the id of one installation. Every program refuses a pair that
does not match: a wrong REDIS_URL, a wrong HOLDPOINT_DATA, or a Redis that came back empty. Use this command only when you know that the
two belong together. Folders of runs without a log in Redis move to trash/ in the data directory for a week.`;

export function adoptCommand(shell: Shell): Command {
  return new Command('adopt')
    .description('declare that this data directory and this Redis belong together')
    .option('--yes', 'bind them; without this option the command only shows what it would do')
    .option('--json', 'one JSON object')
    .addHelpText('after', help)
    .action((options: AdoptOptions) => adopt(shell, options));
}

async function adopt(shell: Shell, { yes, json }: AdoptOptions): Promise<void> {
  const { config } = shell;
  await checkDataDirFormat(config.dataDir);
  await using redis = await openStopped(config);
  const sides = { redis: redis.connections.state, dataDir: config.dataDir };
  const before = await readInstallation(sides);
  checkAdoptable(before);
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
