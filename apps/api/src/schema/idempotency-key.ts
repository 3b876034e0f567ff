import type { FastifyRequest } from 'fastify';
import { ApiProblem } from '../errors/to-problem.ts';

export const longestKey = 255;

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
