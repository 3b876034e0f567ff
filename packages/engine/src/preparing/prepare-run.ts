import * as contract from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import { hostsOf, lineOf, refusedCommand } from '../approvals/judge-described.ts';
import { secretWritten } from '../calls/capture-call.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { guardTree } from '../fencing/inspect-tree.ts';
import { takeTree } from '../fencing/take-tree.ts';
import { abortReason, HandBack, type JobContext, lockLost, readError } from '../jobs/index.ts';
import { append, readRun, readSpec } from '../log/index.ts';

type Reached = NonNullable<contract.PrepareResult['reached']>[number];

const mostPlaces = 50;

/** Counts connections by host, port, verdict and reason. Connections to places above the cap are not listed. */
function countReached(): { add(connection: contract.Connection): void; list(): Reached[] | undefined } {
  const places = new Map<string, Reached>();
  return {
    add({ host, port, verdict, bytes_down, reason, detail }) {
      const why = verdict === 'allowed' ? {} : { reason, detail };
      const name = JSON.stringify([host, port, verdict, why.reason]);
      const place = places.get(name) ?? { host, port, verdict, connections: 0, bytes_down: 0, ...why };
      if (!places.has(name) && places.size === mostPlaces) return;
      const { connections } = place;
      places.set(name, { ...place, connections: connections + 1, bytes_down: place.bytes_down + bytes_down });
    },
    list: () => (places.size === 0 ? undefined : [...places.values()]),
  };
}

/**
 * Runs the remaining commands of `prepare` one after the other, before the first turn. A command whose worker died runs again, on a new
 * tree. When an earlier run of the tenant with the same inputs kept its changes, the kept changes are applied and no command runs.
 * @returns whether the first turn may begin; when false, the log says why
 */
export async function prepareRun(deps: WorkerDeps, runId: string, context: JobContext): Promise<boolean> {
  for (;;) {
    const run = await readRun(deps.redis, runId);
    if (run?.prepare !== 'due') return true;
    if (run.status !== 'running' || run.restore === 'due') return false;
    const spec = await readSpec(deps, run);
    const { prepare } = spec;
    if (prepare === undefined) throw new TypeError(`the run ${run.id} has nothing to prepare`);
    const refused = refusedCommand(deps, spec);
    if (refused !== undefined) {
      await append(deps, run.id, domain.pauseRun(run, notAllowed(refused.message)));
      return false;
    }
    const tree = await soundTree(deps, run, context);
    if (tree === 'moved') continue;
    if (tree === 'lost' || !(await prepareNext(deps, tree, { spec, prepare, context }))) return false;
  }
}

/** The run with a tree equal to its snapshot. When a worker may still be writing to the old tree, the tree is a new one. */
async function soundTree(
  deps: WorkerDeps,
  run: domain.RunState,
  context: JobContext,
): Promise<domain.RunState | 'moved' | 'lost'> {
  if (run.preparing === undefined) {
    const tree = await guardTree(deps, run, { id: '' }, context);
    return tree === 'sound' ? run : tree;
  }
  const epoch = await takeTree(deps, run, { snapshot: run.snapshot ?? '', signal: context.signal });
  return epoch === undefined ? 'moved' : { ...run, lease: epoch, head: '' };
}

interface Step {
  spec: contract.RunSpec;
  prepare: contract.Prepare;
  context: JobContext;
}

/** Runs the next command. @returns whether to look at the run again */
async function prepareNext(deps: WorkerDeps, run: domain.RunState, step: Step): Promise<boolean> {
  const { prepare, context } = step;
  const number = run.prepared + 1;
  const place = { number, of: prepare.commands.length };
  const command = prepare.commands[run.prepared];
  if (command === undefined) throw new TypeError(`the run ${run.id} has no command ${number} of prepare`);
  const line = lineOf(command.command);
  const key = await keyOf(deps, run, step);
  const begun = await append(
    deps,
    run.id,
    domain.beginPrepare(run, { ...place, command: line, worker: deps.workerId }),
  );
  if (!begun.ok) return true;
  const writer = domain.heads.prepare(number);
  await deps.workspaces.admit({ runId: run.id, epoch: run.lease, after: run.head, writer });
  const now = { ...run, preparing: writer };
  if (number === 1 && key !== undefined && (await takeKept(deps, now, { ...step, key, place }))) return true;
  const { succeeded, detail, ...result } = await execute(deps, now, { ...step, command });
  assertAlive(context);
  const about = { ...place, command: line, ...result };
  const problem = succeeded ? undefined : commandFailed({ ...about, detail });
  const taken = problem ?? (await takeSnapshot(deps, now, { ...step, number }));
  if ('code' in taken) {
    await append(deps, run.id, domain.recordPrepareFailed(now, about, taken));
    return false;
  }
  const ends = number === place.of ? await finish(deps, now, { ...taken, key }) : {};
  await append(
    deps,
    run.id,
    domain.recordPrepared(now, { ...about, key, ...taken, parent: run.snapshot ?? '', ...ends }),
  );
  return true;
}

/** The digest for keeping the changes; undefined when the changes cannot be kept here. */
async function keyOf(deps: WorkerDeps, run: domain.RunState, { spec, prepare }: Step): Promise<string | undefined> {
  const { tenant } = domain.scopeOf(run, spec);
  const place = { runId: run.id, epoch: run.lease, tenant, base: run.base ?? '' };
  return deps.executor.prepareKey(place, { ...prepare, network: hostsOf(spec), secrets: spec.secrets ?? [] });
}

/** Applies the changes kept by an earlier run. */
async function takeKept(
  deps: WorkerDeps,
  run: domain.RunState,
  { spec, key, place }: Step & { key: string; place: { of: number } },
): Promise<boolean> {
  const startedAt = performance.now();
  const { id: runId, lease: epoch, snapshot: parent = '' } = run;
  const { tenant } = domain.scopeOf(run, spec);
  const forbids = forbiddenPaths(spec);
  const taken = await deps.workspaces.applyPrepared({ runId, epoch, parent, tenant, key, forbids });
  if (taken === undefined) return false;
  await deps.workspaces.markPrepared({ runId, snapshot: taken.snapshot });
  const duration_ms = Math.round(performance.now() - startedAt);
  const data = { number: place.of, of: place.of, key, cached: true as const, duration_ms, ...taken, parent };
  await append(deps, runId, domain.recordPrepared(run, data));
  return true;
}

async function execute(
  deps: WorkerDeps,
  run: domain.RunState,
  { spec, prepare, command, context: { signal } }: Step & { command: contract.Prepare['commands'][number] },
): Promise<Omit<contract.PrepareResult, 'command'> & { succeeded: boolean; detail: string | null }> {
  const most = deps.ceilings?.step_wall_s ?? command.timeout_s;
  const reached = countReached();
  const { limits, modes } = spec;
  const result = await deps.executor.prepare(command.command, {
    ...{ runId: run.id, epoch: run.lease, limits: limits.command ?? {}, scope: domain.scopeOf(run, spec), signal },
    wallMs: Math.min(command.timeout_s, most) * 1000,
    network: hostsOf({ ...spec, prepare }),
    number: run.prepared + 1,
    seed: modes.deterministic ? domain.heads.prepare(run.prepared + 1) : undefined,
    onConnection: reached.add,
  });
  return { ...result, reached: reached.list() };
}

/** Takes a snapshot of the command's changes, or returns the reason for dropping them. */
async function takeSnapshot(
  deps: WorkerDeps,
  run: domain.RunState,
  { spec, number }: Step & { number: number },
): Promise<{ snapshot: string; files_changed: number; skipped: number } | contract.Problem> {
  await deps.workspaces.killAll(run.id);
  try {
    return await deps.workspaces.snapshot({
      ...{ runId: run.id, epoch: run.lease, parent: run.snapshot ?? '', message: domain.heads.prepare(number) },
      ...{ forbids: forbiddenPaths(spec), scope: domain.scopeOf(run, spec) },
    });
  } catch (error) {
    if (error instanceof contract.ForbiddenChange) return domain.forbiddenChange(error.paths);
    const { problem } = readError(error);
    if (problem.code !== secretWritten) throw error;
    return problem;
  }
}

/**
 * Ends the preparation. Other runs reuse only changes that `prepare` made to files straight from the source: a run that continues another
 * run keeps nothing.
 */
async function finish(
  deps: WorkerDeps,
  run: domain.RunState,
  { snapshot, key }: { snapshot: string; key: string | undefined },
): Promise<{ kept: boolean }> {
  await deps.workspaces.markPrepared({ runId: run.id, snapshot });
  const isOwn = run.forked_from === undefined && run.parent === undefined && run.turn === 0;
  if (key === undefined || !isOwn) return { kept: false };
  const spec = await readSpec(deps, run);
  const { tenant } = domain.scopeOf(run, spec);
  const kept = await deps.workspaces.keepPrepared({ runId: run.id, tenant, key, from: run.base ?? '', to: snapshot });
  return { kept };
}

/**
 * A worker that is ending records nothing, and neither does a worker of a canceled run: the next worker finds a command without a result.
 */
function assertAlive({ signal }: JobContext): void {
  const reason = abortReason(signal);
  if (reason === 'shutdown') throw new HandBack();
  if (reason === 'lock-lost') throw lockLost();
  if (reason === 'canceled') throw new Error('the run was canceled while a command of prepare ran');
}

const longestShown = 1500;

function commandFailed({
  number,
  command,
  exit_code,
  detail,
  output,
  reached = [],
}: Pick<contract.PrepareResult, 'command' | 'exit_code' | 'output' | 'reached'> & {
  number: number;
  detail: string | null;
}): contract.Problem {
  const how = detail ?? `exit code ${exit_code}`;
  const tail = output.trimEnd().slice(-longestShown);
  // The output ends with the refused connection.
  const first = reached.find((place) => place.verdict === 'refused' && place.detail !== undefined);
  return {
    code: 'prepare_failed',
    message: `Command ${number} of prepare failed (${how}): ${command}${tail === '' ? '' : `\n${tail}`}`,
    next:
      first === undefined
        ? failedElsewhere
        : `Holdpoint refused a connection: ${first.detail} Then resume the run, or submit it again. \`holdpoint doctor --reach ${first.host}:${first.port}\` says what would be allowed.`,
  };
}

const failedElsewhere =
  'When the cause lies outside (a registry, the network), resume the run: the command runs again. Otherwise cancel it and submit it with other commands, or with the host in `prepare.network.allow`.';

const notAllowed = (message: string): contract.Problem => ({
  code: 'prepare_refused',
  message: `Not run: ${message}`,
  next: 'Resume the run when the policy allows the command, or cancel it and submit it without.',
});
