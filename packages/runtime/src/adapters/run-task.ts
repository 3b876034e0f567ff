import type { CommandEnd, ShellSpec } from '@holdpoint/contract';
import type { TaskContext, TaskEnd } from '@holdpoint/engine/worker';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import { secretVariables } from './call-secrets.ts';
import { quotaText } from './quota-text.ts';
import { openCallNetwork } from './run-network.ts';
import { splitSignal } from './split-signal.ts';

interface Deps {
  sandbox: Sandbox;
  secrets: Secrets;
  allowAddresses: readonly string[];
}

/** Runs a background command in a sandbox of its own, until it ends or is killed. */
export async function runTask(
  { sandbox, secrets, allowAddresses }: Deps,
  workspace: WorkspaceMount,
  { command, cwd, env, timeout_ms }: ShellSpec,
  { taskId, wallMs, limits, network, scope, output, onConnection, onBegun, signal }: TaskContext,
): Promise<TaskEnd> {
  await using way = await openCallNetwork({ network, scope, onConnection }, { allowAddresses, secrets });
  const { end, duration_ms } = await sandbox.run({
    workspace,
    label: taskId,
    argv: ['/bin/bash', '-c', command],
    cwd,
    env: { ...env, ...secretVariables(secrets, scope) },
    filter: () => secrets.redactor(scope.tenant).stream(),
    egress: way?.openProxy(),
    output,
    onBegun,
    limits: { ...limits, wall_ms: Math.min(wallMs, timeout_ms ?? wallMs) },
    ...splitSignal(signal),
  });
  return { ...judge(end), duration_ms };
}

function judge(end: CommandEnd): TaskEnd {
  switch (end.status) {
    case 'exited': {
      const { exit_code, signal } = end;
      if (exit_code === 0 && signal === null) return { status: 'completed', exit_code };
      const message = signal === null ? `exit code ${exit_code}` : `ended by ${signal}`;
      return { status: 'failed', exit_code, reason: { code: 'EEXIT', message } };
    }
    case 'timed_out': {
      const message = `It was still running after ${end.after_ms / 1000} s, and was killed.`;
      return { status: 'timed_out', exit_code: null, reason: { code: 'ETIMEOUT', message } };
    }
    case 'quota': {
      const message = `It was killed: ${quotaText(end)}.`;
      return { status: 'failed', exit_code: null, reason: { code: 'EQUOTA', message } };
    }
    case 'killed':
      return { status: 'killed', exit_code: null, reason: { code: 'EKILLED', message: end.reason } };
    default:
      return end satisfies never;
  }
}
