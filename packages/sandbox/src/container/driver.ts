import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Equipment, INSIDE } from '../bubblewrap/equipment.ts';
import { closed } from '../process/closed.ts';
import { identify, killProcess } from '../process/identity.ts';
import type { ProcessRecords } from '../process/records.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Driver, Tree, TreeEnd, TreeRequest } from '../tree.ts';
import type { Engine } from './engine.ts';
import { COMMAND_LABEL, containerEnvironment, LABEL, runArguments } from './run-arguments.ts';

export interface ContainerDeps {
  name: 'container' | 'gvisor';
  engine: Engine;
  image: string;
  runtime: string | null;
  equipment: Equipment;
  tmpBytes: number;
  stateDir: string;
  records: ProcessRecords;
}

/** What the client says when the engine itself failed. */
const ENGINE_FAILED = 125;
const KILL_PAUSE_MS = 100;
/** An engine that has not started or ended a container by then hangs; its client is killed. */
const KILL_TRIES = 100;
const RUNNING_LOOK_MS = 50;

/**
 * Runs each tree in a container of its own, through any engine with docker's command line. The image needs bash, coreutils and the host's
 * kind of C library, because the worker's Node and ripgrep are shown in it.
 *
 * A container does not die with the worker that started it, but at the next `killAll` of its workspace. One that begins while its workspace
 * is frozen is not stopped. That they are paused and go on is tested as a command line only.
 */
export function containerDriver(deps: ContainerDeps): Driver {
  return {
    name: deps.name,
    held: null,
    ownRoot: true,
    start: (request) => start(deps, request),
    findOrphans: () => [],
    async endOthers(workspaceId, label) {
      const ids = await find(deps.engine, workspaceId, label === null ? [] : [`label=${COMMAND_LABEL}=${label}`]);
      if (ids.length > 0) await deps.engine.call('rm', '--force', ...ids);
    },
    async stop(workspaceId) {
      const ids = await find(deps.engine, workspaceId, [`label=${COMMAND_LABEL}`, 'status=running']);
      if (ids.length > 0) await deps.engine.call('pause', ...ids);
    },
    async wake(workspaceId) {
      const ids = await find(deps.engine, workspaceId, [`label=${COMMAND_LABEL}`, 'status=paused']);
      if (ids.length > 0) await deps.engine.call('unpause', ...ids);
    },
    release: async () => {},
    root: () => '/workspace',
    node: `${INSIDE}/node/bin/node`,
    ripgrep: `${INSIDE}/bin/rg`,
    toolHost: `${INSIDE}/inside/tool-host/main.ts`,
  };
}

async function find(engine: Engine, workspaceId: string, filters: readonly string[]): Promise<string[]> {
  const options = [`label=${LABEL}=${workspaceId}`, ...filters].flatMap((filter) => ['--filter', filter]);
  return (await engine.call('ps', '--quiet', '--no-trunc', ...options)).split('\n').filter(Boolean);
}

function start(deps: ContainerDeps, request: TreeRequest): Tree {
  const { workspace } = request;
  const container = `holdpoint-${randomUUID()}`;
  const idFile = join(deps.stateDir, `${container}.id`);
  const { command, toolHost, path } = deps.equipment;
  const plan = { ...deps, mounts: request.toolHost ? [...command, ...toolHost] : command, path };
  const { started: subprocess, announcement } = deps.records.announced(request, () =>
    spawn(deps.engine.program, runArguments(plan, request, { container, idFile }), {
      env: containerEnvironment(plan, request.env),
      stdio: [request.toolHost || request.stdin !== null ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  );
  const { stdin, stdout, stderr, pid } = subprocess;
  if (!stdout || !stderr) throw new TypeError('no stdout');
  stdin?.on('error', () => {}); // a program need not read its input
  if (request.stdin !== null) stdin?.end(request.stdin);
  const exited = new Promise<{ code: number | null; error: string | null }>((resolve) => {
    subprocess.once('error', (error) => resolve({ code: null, error: error.message }));
    subprocess.once('exit', (code) => resolve({ code, error: null }));
  });
  const identity = pid === undefined ? null : identify(pid);
  let running = true;
  let killing: Promise<void> | null = null;
  const kill = () => {
    killing ??= untilKilled(deps.engine, container, () => running).finally(() => {
      if (identity) killProcess(identity);
    });
  };
  try {
    if (identity) deps.records.write(workspace.id, [identity], request.label);
  } catch (error) {
    kill();
    throw error;
  }
  const overtaken = !deps.records.withdraw(announcement);
  if (overtaken) kill();
  if (request.onBegun) untilRunning(deps.engine, container, () => running).then(request.onBegun, () => {});
  const finish = async (): Promise<TreeEnd> => {
    const { code, error } = await exited;
    running = false;
    // without its client, which killAll may have ended, a container goes on
    await deps.engine.call('rm', '--force', container).catch(() => {});
    await Promise.all([killing, closed(stdout), closed(stderr)]);
    const created = existsSync(idFile);
    rmSync(idFile, { force: true });
    if (identity && deps.records.remove(workspace.id, identity).killed) return { status: 'taken_over' };
    if (overtaken) return { status: 'taken_over' };
    if (error !== null) return { status: 'setup_failed', detail: error };
    if (code === null) return { status: 'lost' };
    if (code === ENGINE_FAILED && !created) return { status: 'setup_failed', detail: null };
    return { status: 'exited', exit_code: code, signal: signalOfExitCode(code) };
  };
  const terminate = () => void deps.engine.call('kill', '--signal', 'TERM', container).catch(() => {});
  const uncounted = { usage: () => null, processes: () => [] };
  return { stdin: request.toolHost ? stdin : null, stdout, stderr, ...uncounted, terminate, kill, ended: finish() };
}

/** The engine's client does not say when the container runs. Rejects when it ends first. */
async function untilRunning(engine: Engine, container: string, mayRun: () => boolean): Promise<void> {
  while (mayRun()) {
    if ((await engine.call('ps', '--quiet', '--filter', `name=${container}`, '--filter', 'status=running')) !== '')
      return;
    await delay(RUNNING_LOOK_MS);
  }
  throw new Error('it has ended');
}

/** A container that is being made cannot be killed yet. */
async function untilKilled(engine: Engine, container: string, running: () => boolean): Promise<void> {
  for (let tries = 0; running() && tries < KILL_TRIES; tries++) {
    const killed = await engine.call('kill', '--signal', 'KILL', container).then(
      () => true,
      () => false,
    );
    if (killed) return;
    await delay(KILL_PAUSE_MS);
  }
}
