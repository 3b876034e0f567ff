import type { Graphs } from '@holdpoint/code-graph';
import { FileError, type ProcessLimits, type SecretScope, type ToolOutcome } from '@holdpoint/contract';
import type { Documents, PageBrowser } from '@holdpoint/documents';
import { createGuard } from '@holdpoint/egress';
import type { ExecutionContext, Executor } from '@holdpoint/engine/worker';
import type { LanguageServers } from '@holdpoint/language-servers';
import { describeTouches, findCaution, readablePaths } from '@holdpoint/policy';
import { type Sandbox, WholeOutput, type WorkspaceMount } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import type { Network, Registry, TextThreads, ToolContext } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import { type Live, type LiveOutput, liveOutput } from '../live/live-hub.ts';
import type { ResultBytes } from '../result-bytes.ts';
import type { ProjectToolchains } from '../toolchains/project-toolchains.ts';
import { withAdvice } from './behind-wall.ts';
import { CallUse, placeholderOf, secretsOfCommands, secretVariables, withRefusals } from './command-use.ts';
import { fixSurroundings } from './determinism.ts';
import { openGenerate, type ToolModels } from './generate-text.ts';
import type { KeptPrograms } from './kept-programs.ts';
import { longResult } from './long-result.ts';
import { prepareKey } from './prepare-key.ts';
import { redactExecutor } from './redact-executor.ts';
import { runConversation } from './run-conversation.ts';
import { runDocuments } from './run-documents.ts';
import { runGraph } from './run-graph.ts';
import { runLanguage } from './run-language.ts';
import { type CallNetwork, openCallNetwork } from './run-network.ts';
import { runScreenshots } from './run-screenshots.ts';
import { runPrepare, runTask, runValidator, splitSignal } from './run-shell.ts';

interface Deps {
  registry: Registry;
  sandbox: Sandbox;
  workspaces: Workspaces;
  texts: TextThreads;
  graphs: Graphs;
  languageServers: LanguageServers;
  documents: Documents;
  /** @default no browser */
  browser?: PageBrowser | undefined;
  keptPrograms: KeptPrograms;
  toolchains: ProjectToolchains;
  secrets: Secrets;
  models: ToolModels;
  live: Live;
  /** Makes a call of an outside agent with the agent's own tool. */
  byAgent?: (step: OwnCall & OwnStep) => Promise<ToolOutcome>;
  /** Most bytes of a result in a request to a model. */
  resultBytes: ResultBytes;
  logger: { warn(about: object, message: string): void };
  /** CIDR ranges. Hosts of an allowlist may have public addresses and addresses in these ranges. */
  allowAddresses: readonly string[];
  /** Milliseconds since the epoch. */
  now: () => number;
}

type OwnCall = Parameters<NonNullable<ToolContext['byAgent']>>[0];
type OwnStep = Pick<ExecutionContext, 'runId' | 'stepId' | 'wallMs' | 'signal'>;

/** The engine's executor: calls of the registry's tools, inside the sandbox, on the run's workspace. */
export function createExecutor(deps: Deps): Executor {
  const {
    registry,
    sandbox,
    workspaces,
    texts,
    graphs,
    languageServers,
    documents,
    browser,
    keptPrograms,
    secrets,
    toolchains,
    allowAddresses,
    now,
    byAgent: makeByAgent,
  } = deps;
  /** `asks` and previews have no snapshot, so they query no graph. */
  const graphOf = (
    { runId, scope: { tenant }, rest: { snapshot, permissions, onGraphProgress: onProgress }, signal }: CallBounds,
    owner: WorkspaceMount,
  ) =>
    snapshot === undefined
      ? undefined
      : runGraph(graphs, { runId, tenant, owner, snapshot, permissions, signal, onProgress });
  const contextOf = async (call: CallBounds): Promise<ToolContext> => {
    const workspace = await mountOf(deps, call);
    const { reads } = call;
    const { way, network = way?.network, wallMs, limits, scope, signal, rest } = call;
    const fixed = call.seed === undefined ? undefined : fixSurroundings(call.seed, now);
    const { deferred } = rest;
    const isReadable = readablePaths(rest.permissions);
    // With `reads`, the tool's own file access is read-only as well.
    const files = sandbox.files(reads === undefined ? workspace : { ...workspace, readOnly: true });
    // A server reads the whole tree, and what is ready when is not the same in each attempt.
    const hasServers = isReadable === undefined && fixed === undefined;
    return {
      ...rest,
      deferred: deferred && fixed ? { ...deferred, until: fixed.toFixed(deferred.until) } : deferred,
      now: fixed?.now ?? now,
      random: fixed?.random ?? Math.random,
      files,
      ripgrep: sandbox.ripgrep,
      isReadable,
      language: hasServers ? runLanguage(languageServers, { mount: workspace, files, signal }) : undefined,
      checkSyntax: ({ path, before, after }) =>
        graphs.checkSyntax({ runId: call.runId, owner: workspace, path, before, after, timeout_ms: syntaxMs }),
      screenshot: hasServers && browser ? runScreenshots(browser, { mount: workspace, signal }) : undefined,
      pages: runDocuments(documents, { run: workspace, redactor: () => secrets.redactor(scope.tenant) }),
      text: texts.of(call.runId, signal),
      graph: graphOf(call, workspace),
      signal,
      secrets: secretsOfCommands(scope),
      placeholder: scope.secrets.length === 0 ? undefined : placeholderOf(secrets, scope),
      idempotencyKey: call.idempotencyKey,
      runId: call.runId,
      tenant: scope.tenant,
      network,
      async run(command) {
        const env = { ...command.env, ...(command.secrets === true ? secretVariables(secrets, scope) : {}) };
        const proxy = command.network === false ? undefined : way?.openProxy();
        const ran = await sandbox.run({
          ...command,
          env: { ...fixed?.environment, ...env },
          argv: fixed?.argv(command.argv) ?? command.argv,
          filter: () => secrets.redactor(scope.tenant).stream(),
          watch: call.output,
          ...{ workspace, only: reads },
          ...splitSignal(signal),
          egress: proxy,
          limits: stricter({ ...limits, wall_ms: wallMs }, command.limits ?? {}),
        });
        const to = command.streams === 'combined' ? 'stdout' : 'stderr';
        const result = withRefusals(ran, { proxy, to, watch: call.output });
        if (result.end.status === 'killed' && result.end.taken_over) throw new TakenOverError();
        call.use?.add(fixed?.result(result) ?? result);
        const shown = fixed?.result(result) ?? result;
        return reads === undefined ? shown : withAdvice(shown, reads, command.streams === 'combined');
      },
      converse:
        reads !== undefined
          ? undefined
          : async ({ read_only = false, ...command }, talk) => {
              const { result, ...said } = await runConversation(
                sandbox,
                {
                  ...command,
                  workspace: read_only ? { ...workspace, readOnly: true } : workspace,
                  env: { ...fixed?.environment, ...command.env },
                  argv: fixed?.argv(command.argv) ?? command.argv,
                  ...splitSignal(signal),
                  egress: command.network === false ? undefined : way?.openProxy(),
                  limits: stricter({ ...limits, wall_ms: wallMs }, command.limits ?? {}),
                },
                talk,
              );
              if (result.end.status === 'killed' && result.end.taken_over) throw new TakenOverError();
              call.use?.add(result);
              return said;
            },
      converseKept:
        reads !== undefined || fixed !== undefined
          ? undefined
          : async (request, talk) => {
              const { result, ...said } = await keptPrograms.converse(
                { mount: workspace, limits, signal },
                request,
                talk,
              );
              if (result?.end.status === 'killed' && result.end.taken_over) throw new TakenOverError();
              return said;
            },
      async search(request) {
        const result = await sandbox.search({
          ...request,
          filter: () => secrets.redactor(scope.tenant).stream(),
          ...{ workspace, signal },
          limits: stricter({ ...limits, wall_ms: wallMs }, request.limits ?? {}),
        });
        return { ...(fixed?.result(result) ?? result), nuls: result.nuls };
      },
    };
  };

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
      const context = await contextOf({
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
      const context = await contextOf({ runId, epoch, idempotencyKey: runId, ...bounds, rest });
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
        ...(await contextOf({ runId, epoch, idempotencyKey: stepId, ...bounds, rest })),
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

/** Another worker or a restore killed the command, not a cancel of its run, so the result of the call is not known. */
class TakenOverError extends Error {
  override name = 'TakenOverError';
  readonly code = 'ETAKENOVER';
  readonly retryable = true;

  constructor() {
    super('Every process of the workspace was ended, because it was brought back to a snapshot.');
  }
}

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

/** Limits and access of a call. */
interface CallBounds {
  runId: string;
  epoch: number;
  idempotencyKey: string;
  wallMs: number;
  limits: Partial<ProcessLimits>;
  way?: CallNetwork | undefined;
  /** Receives the output of the call's commands while they run. */
  output?: Pick<LiveOutput, 'write'>;
  /** Adds up the resource use of the call's commands. */
  use?: CallUse;
  /** @default the network of `way` */
  network?: Network | undefined;
  readOnly?: boolean;
  /** As `reads` of the engine's context. */
  reads?: readonly string[] | undefined;
  seed?: string | undefined;
  scope: SecretScope;
  signal: AbortSignal;
  rest: Pick<ExecutionContext, 'past' | 'settings' | 'tasks' | 'taskId' | 'deferred' | 'depth' | 'maxDepth' | 'model'> &
    Partial<Pick<ExecutionContext, 'answered' | 'awaited' | 'dryRun' | 'snapshot' | 'permissions' | 'onGraphProgress'>>;
}

/** For each limit, the smaller value of both sides. */
function stricter(run: Partial<ProcessLimits>, call: Partial<ProcessLimits>): Partial<ProcessLimits> {
  const merged: Partial<ProcessLimits> = { ...run, ...call };
  for (const name of Object.keys(merged) as (keyof ProcessLimits)[]) {
    const bounds = [run[name], call[name]].filter((bound) => bound !== undefined);
    merged[name] = Math.min(...bounds);
  }
  return merged;
}

const previewWallMs = 10_000;
/** The first check of a run starts its parser: 0.5 s. A result does not wait longer for its syntax errors. */
const syntaxMs = 5000;

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

/** The run's tree, whose commands find the project's runtimes first. */
async function mountOf(
  { workspaces, toolchains }: Pick<Deps, 'workspaces' | 'toolchains'>,
  { readOnly, ...place }: { runId: string; epoch: number; readOnly?: boolean },
): Promise<WorkspaceMount> {
  const { mount, base } = await located(workspaces, place);
  const { first } = await toolchains.of({ ...mount, base });
  return { ...mount, first, readOnly };
}

async function located(
  workspaces: Workspaces,
  { runId, epoch }: { runId: string; epoch: number },
): Promise<{ mount: WorkspaceMount; base: string }> {
  const { path, owner, repository, sourceFolders, outputs, base } = await workspaces.locate({ runId, epoch });
  return { mount: { id: runId, path, uid: owner.uid, gid: owner.gid, repository, sourceFolders, outputs }, base };
}
