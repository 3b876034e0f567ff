import { forgetChanges } from '@holdpoint/mcp';
import type { FastifyBaseLogger } from 'fastify';
import type { ServerDeps } from './deps.ts';

type Deps = Pick<ServerDeps, 'audit' | 'mcpServers'>;
const everyMs = 1000;

/**
 * Moves the changes of MCP servers from their file to the audit log, each once. A change waits in the file from the write that made it until
 * here, so a killed process, and a command without a running system, lose none.
 */
export async function recordServerChanges({ audit, mcpServers }: Deps): Promise<void> {
  const { changes, problem } = mcpServers.look();
  if (changes.length === 0 || problem !== undefined) return;
  for (const change of changes) await audit.recordOnce(change);
  await forgetChanges(mcpServers, new Set(changes.map(({ id }) => id)));
}

/** Does so for the changes of other processes, once a second. */
export function followServerChanges({ logger, ...deps }: Deps & { logger: FastifyBaseLogger }): {
  stop(): Promise<void>;
} {
  let last = '';
  let recording: Promise<void> | undefined;
  const record = async (): Promise<void> => {
    try {
      await recordServerChanges(deps);
      last = '';
    } catch (err) {
      const text = err instanceof Error ? err.message : String(err);
      if (text !== last) logger.error({ event: 'server_changes_not_recorded', err }, 'changes of MCP servers wait');
      last = text;
    }
  };
  const timer = setInterval(() => {
    recording ??= record().finally(() => {
      recording = undefined;
    });
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await recording;
    },
  };
}
