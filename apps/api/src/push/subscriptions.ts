import { createECDH, createHash } from 'node:crypto';
import type { Holder } from '@holdpoint/callers';
import type { Tenant } from '@holdpoint/contract';
import type { CreatePushSubscription } from '@holdpoint/contract/wire';
import { createGuard, EgressError } from '@holdpoint/egress';
import type { Redis } from 'ioredis';
import { z } from 'zod';

const storedSchema = z.object({
  id: z.string(),
  endpoint: z.string(),
  keys: z.object({ p256dh: z.string(), auth: z.string() }),
  tenant: z.string(),
  key_id: z.string(),
  /** Digest of the text of the key. The subscription ends with this text. */
  key: z.string(),
  created_at: z.iso.datetime(),
  /** The https address of the page that subscribed: push services learn from it who sends. */
  origin: z.string().optional(),
});
/** A browser that wants pushes, with the rights of the key that it was logged in with. */
export type StoredSubscription = z.infer<typeof storedSchema>;

const recordKey = (id: string): string => `hp:{push}:subscription:${id}`;
const ofKey = (keyId: string): string => `hp:{push}:key:${keyId}`;
const ofTenant = (tenant: Tenant): string => `hp:{push}:tenant:${tenant}`;
const tenantsKey = 'hp:{push}:tenants';
const most = 20;

export type PushSubscriptions = ReturnType<typeof openSubscriptions>;

/** The subscriptions of browsers, in Redis. */
export function openSubscriptions(redis: Redis, now: () => number) {
  const find = async (id: string): Promise<StoredSubscription | undefined> => {
    const text = await redis.get(recordKey(id));
    return text === null ? undefined : storedSchema.parse(JSON.parse(text));
  };
  const findAll = async (ids: readonly string[]): Promise<StoredSubscription[]> =>
    (await Promise.all(ids.map(find))).filter((found) => found !== undefined);
  const list = async (keyId: string): Promise<StoredSubscription[]> => findAll(await redis.smembers(ofKey(keyId)));
  const forget = async ({ id, key_id, tenant }: StoredSubscription): Promise<void> => {
    await redis.multi().del(recordKey(id)).srem(ofKey(key_id), id).srem(ofTenant(tenant), id).exec();
    if ((await redis.scard(ofTenant(tenant))) === 0) await redis.srem(tenantsKey, tenant);
  };
  return {
    find,
    list,
    forget,
    tenants: (): Promise<string[]> => redis.smembers(tenantsKey),
    inTenant: async (tenant: Tenant): Promise<StoredSubscription[]> => findAll(await redis.smembers(ofTenant(tenant))),
    /** A browser that subscribes again has the same subscription. @throws PushError `too_many_push_subscriptions` */
    async add(
      { caller: { tenant }, keyId, digest }: Holder,
      { endpoint, keys }: CreatePushSubscription,
      origin: string | undefined,
    ) {
      const id = `psh_${createHash('sha256').update(`${keyId} ${endpoint}`).digest('hex').slice(0, 32)}`;
      const known = await find(id);
      if (known === undefined && (await redis.scard(ofKey(keyId))) >= most) {
        throw new PushError('too_many_push_subscriptions', `your key has ${most} push subscriptions`);
      }
      const created_at = known?.created_at ?? new Date(now()).toISOString();
      const stored: StoredSubscription = { id, endpoint, keys, tenant, key_id: keyId, key: digest, created_at, origin };
      await redis
        .multi()
        .set(recordKey(id), JSON.stringify(stored))
        .sadd(ofKey(keyId), id)
        .sadd(ofTenant(tenant), id)
        .sadd(tenantsKey, tenant)
        .exec();
      return stored;
    },
  };
}

const resolveMs = 10_000;

/** A guard that permits one host and port: public addresses, and private addresses opened by the operator. @throws EgressError `ERULEINVALID` */
export const guardOf = ({ hostname, port, protocol }: URL, allowAddresses: readonly string[]) =>
  createGuard({ rules: [`${hostname}:${portOf({ port, protocol })}`], allowAddresses });

const portOf = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'http:' ? 80 : 443));

/**
 * A push service has a public https address. An address in HOLDPOINT_ALLOW_ADDRESSES may be private, and on this machine without https.
 * @throws PushError `invalid_push_subscription`
 */
export async function checkEndpoint(endpoint: string, allowAddresses: readonly string[]): Promise<void> {
  const url = URL.parse(endpoint);
  if (url === null || !(url.protocol === 'https:' || isOnThisMachine(url))) throw invalid('it is not an https address');
  if (url.username !== '' || url.password !== '') throw invalid('it holds a user name or a password');
  try {
    const target = { host: url.hostname, port: portOf(url) };
    await guardOf(url, allowAddresses).check(target, AbortSignal.timeout(resolveMs));
  } catch (error) {
    throw invalid(error instanceof EgressError ? error.message : 'its name could not be resolved in time');
  }
}

const isOnThisMachine = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && (hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname));

const invalid = (why: string): PushError =>
  new PushError('invalid_push_subscription', `the endpoint cannot be used: ${why}`, '/endpoint');

/** Without this check every push would fail, again and again. @throws PushError `invalid_push_subscription` */
export function checkKeys({ p256dh }: { p256dh: string }): void {
  const own = createECDH('prime256v1');
  own.generateKeys();
  try {
    own.computeSecret(p256dh, 'base64url');
  } catch {
    const detail = 'p256dh is no point of the curve P-256';
    throw new PushError('invalid_push_subscription', detail, '/keys/p256dh');
  }
}

/** A subscription that cannot be taken. */
export class PushError extends Error {
  override readonly name = 'PushError';
  readonly code: 'invalid_push_subscription' | 'too_many_push_subscriptions';
  /** The faulty place in the request. */
  readonly pointer: string | undefined;

  constructor(code: PushError['code'], message: string, pointer?: string) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}
