import type { CommandResult, ProcessLimits, SecretScope } from '@holdpoint/contract';
import type { ExecutionContext } from '@holdpoint/engine/worker';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import type { Network, ToolContext } from '@holdpoint/tools';
import type { LiveOutput } from '../live/live-hub.ts';
import { withAdvice } from './behind-wall.ts';
import { type CallUse, secretVariables, withRefusals } from './command-use.ts';
import type { FixedSurroundings } from './determinism.ts';
import type { KeptPrograms } from './kept-programs.ts';
import { runConversation } from './run-conversation.ts';
import type { CallNetwork } from './run-network.ts';
import { splitSignal } from './run-shell.ts';

/** Limits and access of a call. */
export interface CallBounds {
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

interface Deps {
  sandbox: Sandbox;
  secrets: Secrets;
  keptPrograms: KeptPrograms;
}

/** Where the commands of a call run. `fixed`: the surroundings of a deterministic run. */
interface Place {
  workspace: WorkspaceMount;
  fixed: FixedSurroundings | undefined;
}

/** The programs that a call may start: commands, searches, and programs that it talks with. */
export function callCommands(
  deps: Deps,
  call: CallBounds,
  place: Place,
): Pick<ToolContext, 'run' | 'converse' | 'converseKept' | 'search'> {
  const { sandbox, secrets } = deps;
  const { reads, way, scope, signal } = call;
  const { workspace, fixed } = place;
  const filter = () => secrets.redactor(scope.tenant).stream();
  return {
    async run(command) {
      const env = { ...command.env, ...(command.secrets === true ? secretVariables(secrets, scope) : {}) };
      const proxy = command.network === false ? undefined : way?.openProxy();
      const ran = await sandbox.run({
        ...command,
        env: { ...fixed?.environment, ...env },
        argv: fixed?.argv(command.argv) ?? command.argv,
        ...{ filter, watch: call.output, workspace, only: reads, egress: proxy },
        ...splitSignal(signal),
        limits: boundsOf(call, command.limits),
      });
      const to = command.streams === 'combined' ? 'stdout' : 'stderr';
      const result = withRefusals(ran, { proxy, to, watch: call.output });
      unlessTakenOver(result);
      const shown = fixed?.result(result) ?? result;
      call.use?.add(shown);
      return reads === undefined ? shown : withAdvice(shown, reads, command.streams === 'combined');
    },
    async search(request) {
      const limits = boundsOf(call, request.limits);
      const result = await sandbox.search({ ...request, filter, workspace, signal, limits });
      return { ...(fixed?.result(result) ?? result), nuls: result.nuls };
    },
    ...(reads === undefined && conversations(deps, call, place)),
  };
}

/** A call behind the wall of reads talks with no program, and a deterministic one with no program of another call. */
function conversations(
  { sandbox, keptPrograms }: Deps,
  call: CallBounds,
  { workspace, fixed }: Place,
): Pick<ToolContext, 'converse' | 'converseKept'> {
  const { way, limits, signal } = call;
  return {
    async converse({ read_only = false, ...command }, talk) {
      const started = {
        ...command,
        workspace: read_only ? { ...workspace, readOnly: true } : workspace,
        env: { ...fixed?.environment, ...command.env },
        argv: fixed?.argv(command.argv) ?? command.argv,
        ...splitSignal(signal),
        egress: command.network === false ? undefined : way?.openProxy(),
        limits: boundsOf(call, command.limits),
      };
      const { result, ...said } = await runConversation(sandbox, started, talk);
      unlessTakenOver(result);
      call.use?.add(result);
      return said;
    },
    converseKept:
      fixed !== undefined
        ? undefined
        : async (request, talk) => {
            const { result, ...said } = await keptPrograms.converse(
              { mount: workspace, limits, signal },
              request,
              talk,
            );
            if (result !== undefined) unlessTakenOver(result);
            return said;
          },
  };
}

/** For each limit, the smaller value of both sides. */
function boundsOf({ limits, wallMs }: CallBounds, call: Partial<ProcessLimits> = {}): Partial<ProcessLimits> {
  const run: Partial<ProcessLimits> = { ...limits, wall_ms: wallMs };
  const merged: Partial<ProcessLimits> = { ...run, ...call };
  for (const name of Object.keys(merged) as (keyof ProcessLimits)[]) {
    const bounds = [run[name], call[name]].filter((bound) => bound !== undefined);
    merged[name] = Math.min(...bounds);
  }
  return merged;
}

/** @throws TakenOverError */
function unlessTakenOver({ end }: Pick<CommandResult, 'end'>): void {
  if (end.status === 'killed' && end.taken_over) throw new TakenOverError();
}

/** Another worker or a restore killed the command, not a cancel of its run, so the result of the call is not known. */
class TakenOverError extends Error {
  override name = 'TakenOverError';
  readonly code = 'ETAKENOVER';
  readonly retryable = true;

  constructor() {
    super('Every process of the workspace was ended, because it was brought back to a snapshot.');
  }
}
