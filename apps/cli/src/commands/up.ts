import { closeSync, openSync } from 'node:fs';
import type { ApiBounds } from '@holdpoint/contract/wire';
import { directoryId } from '@holdpoint/process/directory';
import { Command } from 'commander';
import { keyFileOf, readKey } from '../connection.ts';
import { defaultModelText } from '../default-model.ts';
import { loginLink } from '../open-browser.ts';
import { boundsText, ceilingsText, pairs, plain, sandboxLine } from '../output/index.ts';
import * as cli from '../shell/index.ts';
import * as systemParts from '../system/index.ts';

interface UpOptions {
  workers: number;
  json?: true;
}

export const upCommand = (shell: cli.Shell): Command =>
  new Command('up')
    .description('start Redis, the API and workers on this machine, until Ctrl-C')
    .option('--workers <n>', 'number of worker processes', cli.count, 1)
    .option('--json', 'print one JSON object when ready')
    .action((options: UpOptions) => up(shell, options));

async function up(shell: cli.Shell, options: UpOptions): Promise<void> {
  const { config } = shell;
  await checkOperatorSettings(config);
  const { checkDataDirFormat, makeDataDirectory, refuseCopy } = await import('@holdpoint/engine/installation');
  refuseCopy(config.dataDir);
  await checkDataDirFormat(config.dataDir);
  makeDataDirectory(config.dataDir);
  let record = newRecord(config.dataDir);
  await makeSpace(config);
  const claimed = systemParts.claim(config.dataDir, record);
  if (!claimed.taken) return alreadyUp(shell, claimed.by, options);

  shell.outliveTerminal();
  // Some file systems give a directory another inode number once no process has the directory open.
  const held = openSync(config.dataDir, 'r');
  const ending = new AbortController();
  const hurry = new AbortController();
  const restore = cli.onInterrupt(
    (signal) => ending.abort(new cli.Interrupted(signal)),
    () => {
      if (hurry.signal.aborted) process.exit(cli.exitCodes.interrupted);
      shell.say('stopping now');
      hurry.abort();
    },
  );
  const write = (next: systemParts.SystemRecord): void => {
    record = next;
    try {
      systemParts.updateSystemRecord(config.dataDir, record);
    } catch (error) {
      // The disk is full. The processes run without a record, and the next change is recorded again.
      if (!isStorageError(error)) throw error;
      shell.say(`the running processes could not be recorded: ${error.message}`);
    }
  };
  try {
    if (claimed.left !== undefined) {
      // They stay on record until they are gone, even when this process is killed.
      write({ ...record, children: claimed.left.children });
      const left = await systemParts.endChildren(claimed.left, {
        graceMs: config.drainMs + systemParts.drainMarginMs,
        hurry: hurry.signal,
      });
      if (left > 0) shell.say(`stopped ${left} processes of an earlier start`);
    }
    const system = await systemParts.startSystem({
      config,
      workers: options.workers,
      signal: ending.signal,
      hurry: hurry.signal,
      report: (text) => shell.say(shell.errColors.dim(plain(text))),
      onChildren: (children) => write({ ...record, children }),
    });
    try {
      write({ ...record, address: system.address, redis_socket: system.redisSocket });
      await printReady(shell, system, options);
      await aborted(ending.signal);
    } finally {
      shell.say('stopping: workers finish or hand back their steps');
      await system.stop();
      shell.say('stopped; nothing is lost');
    }
    throw ending.signal.reason;
  } catch (error) {
    // Ctrl-C is the usual way to stop `up`, even during the start.
    if (!(error instanceof cli.Interrupted)) throw error;
  } finally {
    systemParts.release(config.dataDir, process.pid);
    closeSync(held);
    restore();
  }
}

/** Checked here because each program would otherwise refuse in its own log. */
async function checkOperatorSettings({ environment }: cli.Config): Promise<void> {
  // A lazy import: only this command needs the tools.
  const { readOperatorSettings } = await import('../operator-settings.ts');
  await readOperatorSettings(environment);
}

/** Nothing can start on a full disk, so the reserve is released first. */
async function makeSpace({ dataDir, space }: cli.Config): Promise<void> {
  const { freeBytes, releaseReserve } = await import('@holdpoint/engine/space');
  const free = await freeBytes(dataDir).catch(() => undefined);
  if (free !== undefined && free < space.reserve) await releaseReserve(dataDir);
}

function newRecord(dataDir: string): systemParts.SystemRecord {
  const self = systemParts.identify(process.pid);
  if (self === undefined)
    throw new cli.CliError('child_failed', 'This operating system does not report when a process started.', {
      next: 'Run Holdpoint on Linux: `up` recognizes its processes by the time of their start.',
    });
  const started_at = new Date().toISOString();
  const directory = directoryId(dataDir);
  return { format: 1, ...self, directory, started_at, address: null, redis_socket: null, children: [] };
}

const isStorageError = (error: unknown): error is Error =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EIO');

/** A system in good health is no error. */
async function alreadyUp(shell: cli.Shell, record: systemParts.SystemRecord, { json }: UpOptions): Promise<void> {
  const { pid, address, started_at } = record;
  const { dataDir } = shell.config;
  const fault = address === null ? undefined : await systemParts.checkHealth({ ...record, address });
  if (fault !== undefined) {
    const message = `Holdpoint runs on ${dataDir} (process ${pid}), but ${fault.text}.`;
    throw new cli.CliError('not_ready', message, { next: fault.next });
  }
  if (json) {
    shell.printJson({ already_running: true, pid, address, data: dataDir, started_at });
    return;
  }
  const where = address === null ? 'is starting' : `runs at ${address}`;
  shell.print(`Holdpoint ${where} (process ${pid}, data ${dataDir}).`);
  shell.say(`To stop it: ${cli.commandLine('down')}. A second system needs another HOLDPOINT_DATA and HOLDPOINT_PORT.`);
}

async function printReady(
  shell: cli.Shell,
  system: systemParts.RunningSystem,
  { json, workers }: UpOptions,
): Promise<void> {
  const { config } = shell;
  const keyFile = keyFileOf(config);
  const client = await shell.connect(system.address, readKey(keyFile));
  const [known, bounds] = await Promise.all([client.listWorkers(), client.getBounds()]);
  const docs = `${system.address}/docs`;
  if (json) {
    const sandbox = known[0]?.capabilities ?? null;
    const about = { address: system.address, docs, key_file: keyFile, data: config.dataDir, pid: process.pid };
    return shell.printJson({ ...about, redis: system.redis, workers, sandbox });
  }
  const about = {
    console: loginLink(system.address, (await client.createLoginCode()).code),
    address: system.address,
    key: keyFile,
    docs,
    model: shownModel(shell, bounds),
    sandbox: sandboxLine(known[0]?.capabilities),
    bounds: boundsText(bounds),
    limits: ceilingsText(bounds.ceilings),
    logs: `${config.dataDir}/logs`,
  };
  shell.print('');
  shell.print(shell.colors.bold('Holdpoint is ready.'));
  for (const line of pairs(about)) shell.print(`  ${line}`);
  shell.print('');
  shell.print('The console opens with this link once, within a minute. Later:');
  shell.print(`  ${cli.commandLine('open')}`);
  shell.print('');
  shell.print('Try, in another terminal:');
  // A copy, because a publish changes a plain directory.
  shell.print('  cp -r examples/repos/pagelist /tmp/pagelist');
  shell.print(`  ${cli.commandLine('run', '--plan examples/pagelist.plan.yaml', '--source /tmp/pagelist')}`);
  shell.print(`  ${cli.commandLine('approvals')}`);
  shell.print('');
  shell.print('Ctrl-C stops it; runs continue at the next start.');
}

/** A model out of reach is yellow. */
function shownModel({ colors }: cli.Shell, { model }: ApiBounds): string {
  const text = plain(defaultModelText(model));
  return model.problem === null ? text : colors.yellow(text);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
