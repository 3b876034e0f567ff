import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Problem } from '@holdpoint/contract';
import { accountProviders, ModelError } from '@holdpoint/models';
import type { Redis } from 'ioredis';
import { z } from 'zod';

const rateSchema = z.strictObject({
  per_minute: z.number().positive().max(1_000_000).optional(),
  at_once: z.int().min(1).max(100_000).optional(),
});

/** The operator's limits on requests of all workers together, by provider. */
export const providerRatesSchema = z.partialRecord(z.enum(accountProviders), rateSchema);
export type ProviderRates = Partial<Record<string, z.infer<typeof rateSchema>>>;

/** How a request ended. The outcome decides when later requests are sent. */
export type Outcome =
  | { kind: 'ok' }
  /** The request says nothing about the state of the provider. */
  | { kind: 'neutral' }
  /** The provider takes no requests now, or cannot be reached. */
  | { kind: 'limited'; reason: Problem; retryAfterMs?: number | undefined };

type Entry =
  /** The request may be sent. `leave` returns for how long the provider takes no requests now; 0: the provider takes requests. */
  | { kind: 'open'; leave(outcome: Outcome): Promise<{ closedMs: number }> }
  /**
   * @param waitMs until the run may enter again by itself; the gate wakes the run when its turn comes earlier. @param closedMs until any
   * run asks the provider again. @param reason why the provider is left alone; undefined: the operator's rate is used up
   */
  | { kind: 'closed'; waitMs: number; closedMs: number; reason?: Problem | undefined };

/** A waiting run, and the turn to plan. */
interface Ticket {
  runId: string;
  turn: number;
}

/**
 * Lets requests of all workers to the same account of a provider through. While the provider takes no requests, no request passes; then
 * requests of 1, 2, 4, … runs pass. Runs that find the gate closed pass in the order of arrival.
 */
export interface ModelGate {
  enter(account: Account, ticket: Ticket): Promise<Entry>;
}

export interface Account {
  provider: string;
  /** Digest of the provider's address and key. */
  digest: string;
}

interface Deps {
  redis: Redis;
  rates: ProviderRates;
  /** Wakes the job of a run whose request may be sent now. */
  wake(ticket: Ticket): Promise<void>;
  logger: { warn(fields: object, message: string): void };
  /** Milliseconds since the epoch. @default the clock of Redis, the same for all workers */
  now?: () => number;
  random?: () => number;
}

/** The place of a dead worker's request becomes free after this time. */
const leaseMs = 60_000;
const renewMs = 20_000;

const source = readFileSync(new URL('./gate.lua', import.meta.url), 'utf8');
const sha = createHash('sha1').update(source).digest('hex');

export function openModelGate({ redis, rates, wake, logger, now, random = Math.random }: Deps): ModelGate {
  const call = async ({ digest }: Account, op: string, args: (string | number)[]): Promise<unknown[]> => {
    const base = `hp:model-gate:{${digest}}`;
    const keys = [base, `${base}:active`, `${base}:order`, `${base}:due`];
    const all = [...keys, op, now?.() ?? '', ...args];
    try {
      return (await redis.evalsha(sha, keys.length, ...all)) as unknown[];
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return (await redis.eval(source, keys.length, ...all)) as unknown[];
    }
  };
  return {
    async enter(account, { runId, turn }) {
      const { at_once = 0, per_minute = 0 } = rates[account.provider] ?? {};
      const lease = randomUUID();
      const entered = await call(account, 'enter', [`${runId} ${turn}`, lease, leaseMs, at_once, per_minute]);
      if (entered[0] === 0) {
        const [, waitMs, closedMs, code, message] = entered;
        const reason = code === '' ? undefined : { code: String(code), message: String(message) };
        return { kind: 'closed', waitMs: Math.max(Number(waitMs), 1), closedMs: Number(closedMs), reason };
      }
      const renewing = setInterval(() => {
        call(account, 'renew', [lease, leaseMs]).catch((error: unknown) =>
          logger.warn({ run_id: runId, err: error }, 'the place of a model request was not renewed'),
        );
      }, renewMs);
      renewing.unref();
      return {
        kind: 'open',
        async leave(outcome) {
          clearInterval(renewing);
          const limited = outcome.kind === 'limited' ? outcome : undefined;
          const said = [limited?.retryAfterMs ?? 0, random(), at_once, limited?.reason.code ?? ''];
          const words = limited?.reason.message.slice(0, 500) ?? '';
          const args = [lease, Number(entered[1]), outcome.kind, ...said, words];
          // The answer counts even when giving back the place fails: the lease of the place runs out, and a run not woken wakes after its
          // wait.
          const [closed = 0, ...next] = await call(account, 'leave', args).catch((error: unknown): unknown[] => {
            logger.warn({ run_id: runId, err: error }, 'the place of a model request was not given back');
            return [];
          });
          await Promise.all(next.map((ticket) => wake(ticketOf(String(ticket))))).catch((error: unknown) =>
            logger.warn({ err: error }, 'a run that waits for its model was not woken'),
          );
          return { closedMs: Number(closed) };
        },
      };
    },
  };
}

function ticketOf(text: string): Ticket {
  const [runId = '', turn] = text.split(' ');
  return { runId, turn: Number(turn) };
}

/** Reads the state of the provider from the failure of a request. */
export function outcomeOf(error: unknown): Outcome {
  if (!isProviderAway(error)) return { kind: 'neutral' };
  const { code, message, next, retryAfterMs } = error;
  return { kind: 'limited', reason: { code, message, next }, retryAfterMs };
}

/** Whether the provider, and not this request, is the reason of a failure. */
function isProviderAway(error: unknown): error is ModelError {
  if (!(error instanceof ModelError)) return false;
  const { code, status } = error;
  if (code === 'EMODELRATELIMIT') return true;
  // An internal error may be about this request alone.
  return code === 'EMODELUNAVAILABLE' && (status === undefined || status > 501);
}
