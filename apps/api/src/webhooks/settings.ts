import { createHash, randomBytes } from 'node:crypto';
import type { ReceiverState } from '@holdpoint/engine';
import type { Secrets } from '@holdpoint/secrets';
import { z } from 'zod';
import { makeSecret, type NewSecret, type SignatureKind } from './signing.ts';

const time = z.iso.datetime({ offset: true });

/** What the state of a receiver has for a webhook. The values of secrets are in the secret store, where no run can name them. */
const webhookSettingsSchema = z.object({
  url: z.string(),
  signature: z.enum(['v1', 'v1a']),
  /** The name of the entry in the secret store. */
  secret: z.string(),
  public_key: z.string().optional(),
  /** The previous secret signs, too, until a time. */
  previous: z.object({ secret: z.string(), until: time }).optional(),
});
export type WebhookSettings = z.output<typeof webhookSettingsSchema>;

export const settingsOf = ({ settings }: Pick<ReceiverState, 'settings'>): WebhookSettings =>
  webhookSettingsSchema.parse(settings);

type Logins = Pick<Secrets, 'logins'>;
type Named = Pick<ReceiverState, 'tenant' | 'name'>;

/** Stores a new secret under a name that no other has. @throws SecretError `ESECRETSTOREOFF` */
export async function storeNewSecret(
  { logins }: Logins,
  { tenant, name }: Named,
  kind: SignatureKind,
): Promise<NewSecret & { entry: string }> {
  const made = makeSecret(kind);
  const entry = `${prefixOf(name)}${randomBytes(8).toString('hex')}`;
  await logins.write(entry, made.secret, { tenant });
  return { ...made, entry };
}

/** Names of entries have neither dots nor hyphens. */
const prefixOf = (name: string): string => `webhook_${createHash('sha256').update(name).digest('hex').slice(0, 24)}_`;

/** Removes the secrets of a webhook but those that it uses: of changes that another change overtook as well. */
export async function removeUnused({ logins }: Logins, { tenant, name }: Named, used: readonly string[]) {
  const unused = logins.list(tenant).filter((entry) => entry.startsWith(prefixOf(name)) && !used.includes(entry));
  for (const entry of unused) await logins.remove(entry, { tenant });
}

export const entriesOf = ({ secret, previous }: WebhookSettings): string[] =>
  previous === undefined ? [secret] : [secret, previous.secret];

/** The secrets that sign now, the newest first. */
export function signingSecrets({ logins }: Logins, tenant: string, settings: WebhookSettings, now: number): string[] {
  const { secret, previous } = settings;
  const inForce = previous !== undefined && Date.parse(previous.until) > now;
  const [newest, ...rest] = [secret, ...(inForce ? [previous.secret] : [])].map((entry) =>
    logins.read(entry, { tenant }),
  );
  if (newest === undefined) throw new Error('its secret is not in the secret store; rotate it');
  return [newest, ...rest.filter((one) => one !== undefined)];
}
