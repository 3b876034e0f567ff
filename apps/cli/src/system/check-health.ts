import { askServer } from '@holdpoint/embedded-redis';
import { z } from 'zod';
import { commandLine } from '../shell/index.ts';
import type { SystemRecord } from './system-record.ts';

const answerMs = 8000;
const problemSchema = z.object({ detail: z.string(), next: z.string() });

/** The reason why a running system cannot take requests; undefined for a healthy system. */
export async function checkHealth({
  address,
  redis_socket: socket,
}: Pick<SystemRecord, 'redis_socket'> & { address: string }): Promise<{ text: string; next: string } | undefined> {
  const next = `\`up\` restarts parts that ended; read its log. If the fault stays: ${commandLine('down')}, then start again.`;
  if (socket !== null) {
    const answer = await askServer(socket, { timeoutMs: 2000 });
    if (answer === 'absent') return { text: 'its Redis does not run', next };
    if (answer === 'silent') return { text: 'its Redis does not answer', next };
  }
  try {
    const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(answerMs) });
    if (response.ok) return undefined;
    const problem = problemSchema.safeParse(await response.json().catch(() => undefined)).data;
    return { text: problem?.detail ?? `its API answers ${response.status}`, next: problem?.next ?? next };
  } catch {
    return { text: `its API does not answer at ${address}`, next };
  }
}
