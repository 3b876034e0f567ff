import { checkKey } from './check-key.ts';
import { openStream } from './count-stream.ts';
import { CallerError } from './errors.ts';
import { recordFirstKey } from './first-key.ts';
import { digestOf } from './key-text.ts';
import { createKey, getKey, type KeyDeps, type KeyRequest, listKeys, revokeKey, rotateKey } from './manage-keys.ts';
import { recordOlderPersons } from './persons.ts';
import { effectiveLimits, type Holder, type KeyRecord } from './record.ts';

/** Who may call the API, and how much. @param deps.firstKey the text in the key file */
export async function openCallers({ firstKey, ...deps }: KeyDeps & { firstKey: string }) {
  await recordFirstKey(deps, firstKey);
  await recordOlderPersons(deps.redis);
  const firstDigest = digestOf(firstKey);
  return {
    async check(text: string) {
      try {
        return await checkKey(deps, text);
      } catch (error) {
        if (!(error instanceof CallerError) || digestOf(text) !== firstDigest) throw error;
        // Redis may have lost the record with its last second. A revoked key stays revoked.
        await recordFirstKey(deps, firstKey);
        return checkKey(deps, text);
      }
    },
    openStream: (holder: Holder) => openStream(deps.redis, holder),
    create: (holder: Holder, request: KeyRequest) => createKey(deps, holder, request),
    get: (holder: Holder, id: string) => getKey(deps, holder, id),
    list: (holder: Holder, page: Parameters<typeof listKeys>[2]) => listKeys(deps, holder, page),
    rotate: (holder: Holder, request: { id: string; graceS: number }) => rotateKey(deps, holder, request),
    revoke: (holder: Holder, id: string) => revokeKey(deps, holder, id),
    /** The limits of a key as they hold. */
    limitsOf: (record: KeyRecord) => effectiveLimits(record, deps.limits),
  };
}
export type Callers = Awaited<ReturnType<typeof openCallers>>;
