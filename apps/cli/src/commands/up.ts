import { checkDataDirFormat } from '@holdpoint/engine/installation';
import { freeBytes, releaseReserve } from '@holdpoint/engine/space';
import { Command } from 'commander';
import { commandLine } from '../command-name.ts';
import type { Config } from '../config.ts';
import { keyFileOf, readKey } from '../connection.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { Interrupted, onInterrupt } from '../interrupt.ts';
import { boundsText, ceilingsText } from '../output/bounds-text.ts';
import { pairs } from '../output/pairs.ts';
import { plain } from '../output/plain.ts';
import { sandboxLine } from '../output/sandbox-line.ts';
import type { Shell } from '../shell.ts';
import { identify } from '../system/process-identity.ts';
import { drainMarginMs, type RunningSystem, startSystem } from '../system/start-system.ts';
import { claim, release, type SystemRecord, updateSystemRecord } from '../system/system-record.ts';
import { endChildren } from '../system/take-over.ts';
import { whatIsWrong } from '../system/what-is-wrong.ts';
import { count } from './options.ts';

interface UpOptions {
  workers: number;
  json?: true;
}

export function upCommand(shell: Shell): Command {
  return new Command('up')
    .description('start Redis, the API and workers on this machine, and stay until Ctrl-C')
    .option('--workers <n>', 'worker processes', count, 1)
    .option('--json', 'one JSON object when it is ready')
    .action((options: UpOptions) => up(shell, options));
}

async function up(shell: Shell, options: UpOptions): Promise<void> {
  const { config } = shell;
  await checkOperatorSettings(config);
  await checkDataDirFormat(config.dataDir);
  let record = newRecord();
  await makeRoom(config);
  const claimed = claim(config.dataDir, record);
  if (!claimed.taken) return alreadyUp(shell, claimed.by, options);

  shell.outliveTerminal();
  const ending = new AbortController();
  const hurry = new AbortController();
  const restore = onInterrupt(
    (signal) => ending.abort(new Interrupted(signal)),
    () => {
      if (hurry.signal.aborted) process.exit(exitCodes.interrupted);
      shell.say('ending at once');
      hurry.abort();
    },
  );
  const write = (next: SystemRecord): void => {
    record = next;
    try {
      updateSystemRecord(config.dataDir, record);
    } catch (error) {
      // A full disk: the processes run all the same, and the next change is recorded again.
      if (!isStorageError(error)) throw error;
      shell.say(`what runs could not be recorded: ${error.message}`);
    }
  };
  try {
    if (claimed.left !== undefined) {
      // Until they are gone they are on record, whatever happens to this process.
      write({ ...record, children: claimed.left.children });
      const left = await endChildren(claimed.left, { graceMs: config.drainMs + drainMarginMs, hurry: hurry.signal });
      if (left > 0) shell.say(`ended ${left} processes that an earlier start had left behind`);
    }
    const system = await startSystem({
      config,
      workers: options.workers,
      signal: ending.signal,
      hurry: hurry.signal,
      report: (text) => shell.say(shell.errColors.dim(plain(text))),
      onChildren: (children) => write({ ...record, children }),
    });
    try {
      write({ ...record, address: system.address, redis_socket: system.redisSocket });
      await tellReady(shell, system, options);
      await aborted(ending.signal);
    } finally {
      shell.say('ending: workers finish or hand back what they are doing');
      await system.stop();
      shell.say('ended; nothing is lost');
    }
    throw ending.signal.reason;
  } catch (error) {
    // Ctrl-C is the usual way to end it, also while it starts.
    if (!(error instanceof Interrupted)) throw error;
  } finally {
    release(config.dataDir, process.pid);
    restore();
  }
}

/** Before anything is started: every program would refuse by itself, each in its log. */
async function checkOperatorSettings({ environment }: Config): Promise<void> {
  // Loaded here: it brings the tools, which no other command needs.
  const { readOperatorSettings } = await import('../operator-settings.ts');
  readOperatorSettings(environment);
}

/** On a full disk nothing could be started: the reserve is for that, too. */
async function makeRoom({ dataDir, space }: Config): Promise<void> {
  const free = await freeBytes(dataDir).catch(() => undefined);
  if (free !== undefined && free < space.reserve) await releaseReserve(dataDir);
}

function newRecord(): SystemRecord {
  const self = identify(process.pid);
  if (self === undefined) throw new CliError('child_failed', 'This system does not tell when a process began.');
  return {
    format: 1,
    ...self,
    started_at: new Date().toISOString(),
    address: null,
    redis_socket: null,
    children: [],
  };
}

const isStorageError = (error: unknown): error is Error =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EIO');

/** What was asked for is there: no error, if it works. */
async function alreadyUp(shell: Shell, record: SystemRecord, { json }: UpOptions): Promise<void> {
  const { pid, address, started_at } = record;
  const { dataDir } = shell.config;
  const wrong = address === null ? undefined : await whatIsWrong({ ...record, address });
  if (wrong !== undefined) {
    const message = `Holdpoint was started on ${dataDir} (process ${pid}), but ${wrong.text}.`;
    throw new CliError('not_ready', message, { next: wrong.next });
  }
  if (json) {
    shell.printJson({ already_running: true, pid, address, data: dataDir, started_at });
    return;
  }
  const where = address === null ? 'is starting' : `runs at ${address}`;
  shell.print(`Holdpoint ${where} (process ${pid}, data ${dataDir}).`);
  shell.say(`To end it: ${commandLine('down')}. For a second one choose another HOLDPOINT_DATA and HOLDPOINT_PORT.`);
}

async function tellReady(shell: Shell, system: RunningSystem, { json, workers }: UpOptions): Promise<void> {
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
    address: system.address,
    key: keyFile,
    docs,
    sandbox: sandboxLine(known[0]?.capabilities),
    bounds: boundsText(bounds),
    limits: ceilingsText(bounds.ceilings),
    logs: `${config.dataDir}/logs`,
  };
  shell.print('');
  shell.print(shell.colors.bold('Holdpoint is ready.'));
  for (const line of pairs(about)) shell.print(`  ${line}`);
  shell.print('');
  shell.print('Try, in another terminal:');
  // A copy, because publishing changes a plain directory.
  shell.print('  cp -r examples/repos/pagelist /tmp/pagelist');
  shell.print(`  ${commandLine('run', '--plan examples/pagelist.plan.yaml', '--source /tmp/pagelist')}`);
  shell.print(`  ${commandLine('approvals')}`);
  shell.print('');
  shell.print('Ctrl-C ends it; runs go on at the next start.');
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
