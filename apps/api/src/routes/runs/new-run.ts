import type { FastifyRequest } from 'fastify';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** A new run needs space for its workspace and its log. @throws ApiProblem `storage_full` */
export function checkSpace({ space }: Pick<ApiDeps, 'space'>): void {
  if (space.low === undefined) return;
  const free = Math.floor(space.low / (1024 * 1024));
  throw new ApiProblem('storage_full', `only ${free} MiB are free on the disk of the data directory`);
}

const longestKey = 255;

/** The header `Idempotency-Key`. @throws ApiProblem `invalid_request` */
export function idempotencyKey({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = String(header);
  if (key.length >= 1 && key.length <= longestKey) return key;
  const detail = `expected 1 to ${longestKey} characters`;
  throw new ApiProblem('invalid_request', `Idempotency-Key: ${detail}`, {
    errors: [{ pointer: 'Idempotency-Key', detail }],
  });
}
