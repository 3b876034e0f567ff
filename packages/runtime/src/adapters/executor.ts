import { FileError, type ToolOutcome } from '@holdpoint/contract';
import { createGuard } from '@holdpoint/egress';
import type { ExecutionContext, Executor } from '@holdpoint/engine/worker';
import { describeTouches, findCaution } from '@holdpoint/policy';
import { WholeOutput } from '@holdpoint/sandbox';
import type { Network, Registry, ToolContext } from '@holdpoint/tools';
import { type Live, type LiveOutput, liveOutput } from '../live/live-hub.ts';
import type { ResultBytes } from '../result-bytes.ts';
import { CallUse } from './command-use.ts';
import { fixSurroundings } from './determinism.ts';
import { openGenerate, type ToolModels } from './generate-text.ts';
import { longResult } from './long-result.ts';
import { prepareKey } from './prepare-key.ts';
import { redactExecutor } from './redact-executor.ts';
import { openCallNetwork } from './run-network.ts';
import { runPrepare, runTask, runValidator } from './run-shell.ts';
import { type ContextDeps, contextOf, located, mountOf } from './tool-context.ts';

interface Deps extends ContextDeps {
  registry: Registry;
  models: ToolModels;
  live: Live;
  /** Makes a call of an outside agent with the agent's own tool. */
  byAgent?: (step: OwnCall & OwnStep) => Promise<ToolOutcome>;
  /** Most bytes of a result in a request to a model. */
  resultBytes: ResultBytes;
  logger: { warn(about: object, message: string): void };
  /** CIDR ranges. Hosts of an allowlist may have public addresses and addresses in these ranges. */
  allowAddresses: readonly string[];
}

type OwnCall = Parameters<NonNullable<ToolContext['byAgent']>>[0];
type OwnStep = Pick<ExecutionContext, 'runId' | 'stepId' | 'wallMs' | 'signal'>;

/** The engine's executor: calls of the registry's tools, inside the sandbox, on the run's workspace. */
export function createExecutor(deps: Deps): Executor {
  const { registry, sandbox, workspaces, texts, secrets, toolchains, allowAddresses, now, byAgent: makeByAgent } = deps;
  const executor: Executor = {
    async resolvePaths(paths, { signal, ...tree }) {
      const files = sandbox.files(await mountOf(deps, tree));
      return Promise.all(
        paths.map((path) =>
          files.resolve(path, signal).catch((error: unknown) => {
            if (error instanceof FileError) return path;
            throw error;
          }),
        ),
      );
    },
    async asks(call, { runId, epoch, model, network: { allow }, past, scope, settings, signal }) {
      const context = await contextOf(deps, {
        ...{ runId, epoch, idempotencyKey: runId, wallMs: previewWallMs, limits: {}, scope, signal },
        network: lookedAt(allow, allowAddresses),
        rest: {
          ...{ past, settings, tasks: { ...noTasks, previewMerge: refuseMerge }, taskId: '', depth: 0, maxDepth: 0 },
          ...(model !== undefined && { model }),
        },
      });
      return (await registry.asks({ ...call, context })) ?? undefined;
    },
    async preview(call, { runId, epoch, network: { allow }, past, scope, settings, tasks, signal }) {
      const rest = { past, settings, tasks: { ...noTasks, ...tasks }, taskId: '', depth: 0, maxDepth: 0 };
      const network = lookedAt(allow, allowAddresses);
      const bounds = { wallMs: previewWallMs, limits: {}, network, scope, signal };
      const context = await contextOf(deps, { runId, epoch, idempotencyKey: runId, ...bounds, rest });
      return (await registry.preview({ ...call, context })) ?? undefined;
    },
    async execute(
      call,
      {
        runId,
        epoch,
        stepId,
        wallMs,
        limits,
        network,
        granted,
        scope,
        readOnly,
        seed,
        onConnection,
        onModelUse,
        signal,
        ...more
      },
    ) {
      const { attempt, beside, needsPrice = false, openHosts, reads, ...rest } = more;
      const own = registry.reaches({ ...call, settings: rest.settings });
      const reaches = own && reads === undefined ? openHosts(own) : undefined;
      const sent = { ...scope, secrets: [...scope.secrets, ...registry.sends(call.toolset, call.tool)] };
      await using way = await openCallNetwork(
        { network: reads === undefined ? network : { allow: [] }, granted, reaches, scope: sent, onConnection },
        { allowAddresses, secrets },
      );
      const use = new CallUse();
      using live = liveOutput(deps.live, runId, { step_id: stepId, attempt, tool: call.tool });
      const printed = new WholeOutput();
      const output = both(live, printed);
      const bounds = { wallMs, limits, way, scope, readOnly, reads, seed, signal, use, output };
      const generate = openGenerate(deps, {
        runId,
        model: rest.model,
        needsPrice,
        scope,
        wallMs,
        signal,
        onUse: onModelUse,
      });
      const context = {
        ...(await contextOf(deps, { runId, epoch, idempotencyKey: stepId, ...bounds, rest })),
        byAgent: makeByAgent && ((made: OwnCall) => makeByAgent({ ...made, runId, stepId, wallMs, signal })),
        caution: cautionOf(registry, { ...call, network: network.allow.length > 0, settings: rest.settings }),
        generate,
      };
      const outcome = await registry.execute({ ...call, beside, context });
      if (outcome.status !== 'deferred') {
        const made = { ...call, runId, outcome, printed };
        const long = await longResult(
          {
            ...deps,
            redactor: secrets.redactor(scope.tenant),
            text: texts.of(runId, signal),
            warn: warnAbout(deps, stepId),
          },
          made,
        );
        return { capabilities: sandbox.capabilities, ...outcome, command: use.total(), ...(long && { long }) };
      }
      return seed === undefined ? outcome : fixSurroundings(seed, now).fromFixed(outcome);
    },
    async validate(validator, { limits, scope, signal, ...tree }) {
      const filter = () => secrets.redactor(scope.tenant).stream();
      return runValidator(sandbox, await mountOf(deps, tree), validator, { limits, filter, signal });
    },
    async toolchains(place) {
      const { mount, base } = await located(workspaces, place);
      return (await toolchains.of({ ...mount, base })).chosen;
    },
    async prepareKey(place, prepare) {
      return prepareKey(deps, (await located(workspaces, place)).mount, place, prepare);
    },
    async prepare(command, context) {
      using output = liveOutput(deps.live, context.runId, { prepare: context.number });
      const mount = await mountOf(deps, context);
      return await runPrepare({ sandbox, secrets, allowAddresses }, mount, command, { ...context, output });
    },
    async runTask(spec, context) {
      return runTask({ sandbox, secrets, allowAddresses }, await mountOf(deps, context), spec, context);
    },
    killTask: (runId, taskId) => sandbox.kill(runId, taskId),
  };
  return redactExecutor(executor, secrets);
}

/** Writes to both. */
const both = (...outputs: readonly Pick<LiveOutput, 'write'>[]): Pick<LiveOutput, 'write'> => ({
  write: (stream, chunk) => {
    for (const output of outputs) output.write(stream, chunk);
  },
});

const warnAbout =
  ({ logger }: Pick<Deps, 'logger'>, step_id: string) =>
  (err: unknown) =>
    logger.warn({ step_id, err }, 'the whole text of a long result could not be kept');

/** Why the toolset's contract asks for caution with a call. Its command line is parsed the same way as by the gate. */
function cautionOf(registry: Registry, call: Parameters<Registry['describe']>[0]): string | undefined {
  const cautions = registry.cautions(call.toolset);
  if (cautions.length === 0) return undefined;
  const described = registry.describe(call);
  if (!described.ok) return undefined;
  const { args, effect, risk, touches } = described;
  const { toolset, tool } = call;
  return findCaution(cautions, {
    ...{ toolset, tool, args, effect, risk, labels: {} },
    touches: describeTouches(touches),
  });
}

const previewWallMs = 10_000;
/** The network for `asks` and previews: knows the allowlist and fetches nothing. */
function lookedAt(allow: readonly string[], allowAddresses: readonly string[]): Network | undefined {
  if (allow.length === 0) return undefined;
  const { lists } = createGuard({ rules: allow, allowAddresses });
  return { hosts: allow, isListed: lists, fetch: () => Promise.reject(new Error('a look fetches nothing')) };
}

/** A preview changes no task. */
const noTasks: Omit<ToolContext['tasks'], 'previewMerge'> = {
  list: async () => [],
  get: async () => undefined,
  output: async () => ({ text: '', from: 0, next: 0, total: 0, omitted: 0 }),
  kill: async () => undefined,
  send: async () => ({ status: 'refused', problem: { code: 'EPREVIEW', message: 'A preview sends nothing.' } }),
  agentKind: async () => ({ status: 'refused', problem: { code: 'EPREVIEW', message: 'A preview begins nothing.' } }),
  merge: async () => ({ status: 'refused', problem: { code: 'EPREVIEW', message: 'A preview merges nothing.' } }),
};

const refuseMerge = async () => ({
  status: 'refused' as const,
  problem: { code: 'EPREVIEW', message: 'A look merges nothing.' },
});
