import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { allRoles, scopesOfRoles } from '@holdpoint/callers';
import * as contract from '@holdpoint/contract';
import type { Secrets } from '@holdpoint/secrets';
import { z } from 'zod';

/** https, or http to this machine: what travels here signs people in. */
const addressSchema = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { protocol, hostname, username, password, hash, search } = new URL(text);
  const isPlain = username === '' && password === '' && hash === '' && search === '';
  return isPlain && (protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}, 'expected an https address without user, query and fragment, or an http address of this machine');

const grantSchema = z.strictObject({
  group: z.string().min(1),
  tenant: contract.tenantSchema.default(contract.defaultTenant),
  roles: z.array(z.enum(allRoles)).default([]),
  scopes: z.array(contract.scopeSchema).default([]),
});

const settingsSchema = z.strictObject({
  /** As the provider writes it in its tokens. */
  issuer: addressSchema,
  client_id: z.string().min(1),
  /** The name of a secret of the tenant `default`, or a file. Neither: a public client, with PKCE alone. */
  client_secret: z
    .union([
      z.strictObject({ secret: z.string().min(1) }),
      z.strictObject({ file: z.string().refine(isAbsolute, 'expected an absolute path') }),
    ])
    .optional(),
  client_auth: z.enum(['basic', 'post']).default('basic'),
  /** The address of the console in a browser: the provider sends people back there. */
  url: addressSchema.refine((text) => new URL(text).pathname === '/', 'expected an address without a path'),
  /** What the button of the login page names. */
  label: z
    .string()
    .regex(/^[\p{L}\p{N} .&'-]{1,60}$/u, "expected 1 to 60 letters, digits, spaces and . & ' -")
    .optional(),
  scopes: z
    .string()
    .regex(/^openid( \S+)*$/, 'expected openid, then other scopes after spaces')
    .default('openid profile email'),
  groups_claim: z.string().min(1).default('groups'),
  name_claim: z.string().min(1).default('email'),
  groups: z.array(grantSchema).min(1),
  /** Persons of keys that are known already, by the subject at the provider. */
  persons: z.record(z.string(), contract.callerNameSchema).default({}),
  /** Subjects that cannot sign in, whatever their groups. */
  blocked: z.array(z.string()).default([]),
  /** Seconds until the provider has to confirm a session, and until it ends unconfirmed. */
  refresh_s: z.int().min(1).max(86_400).default(300),
  hold_s: z.int().min(1).max(86_400).default(3600),
  clock_skew_s: z.int().min(0).max(300).default(30),
});
export type SignInSettings = z.infer<typeof settingsSchema>;

/** @throws an error naming the variable, and the faulty places of its file */
export function signInSettingsFrom(env: Readonly<Record<string, string | undefined>>): SignInSettings | undefined {
  const file = env.HOLDPOINT_SIGN_IN;
  if (file === undefined || file === '') return undefined;
  if (!isAbsolute(file)) throw new Error('HOLDPOINT_SIGN_IN: expected an absolute path');
  return parseSettings(read(file));
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    // The message of the parser quotes the file.
    const why = cause instanceof SyntaxError ? 'is no JSON' : 'cannot be read';
    throw new Error(`HOLDPOINT_SIGN_IN: the file ${why}`, { cause });
  }
}

export function parseSettings(given: unknown): SignInSettings {
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path, message }) => `/${path.join('/')}: ${message}`);
    throw new Error(`HOLDPOINT_SIGN_IN: ${wrong.join('; ')}`);
  }
  if (parsed.data.hold_s < parsed.data.refresh_s) throw new Error('HOLDPOINT_SIGN_IN: /hold_s: less than refresh_s');
  return parsed.data;
}

/** Read at each discovery, so a rotated secret counts without a restart. @throws SecretError, or the error of the file */
export function readClientSecret({ client_secret }: SignInSettings, secrets: Secrets): string | undefined {
  if (client_secret === undefined) return undefined;
  if ('secret' in client_secret) return secrets.resolve(client_secret.secret, { tenant: contract.defaultTenant });
  return readFileSync(client_secret.file, 'utf8').trim();
}

/** The rights that groups give. @param asked the tenant; otherwise the first with a group of the person */
export function rightsOf(
  { groups }: Pick<SignInSettings, 'groups'>,
  held: readonly string[],
  asked?: contract.Tenant,
): { tenant: contract.Tenant; scopes: contract.Scope[] } | undefined {
  const own = groups.filter(({ group, tenant }) => held.includes(group) && (asked === undefined || tenant === asked));
  const [first] = own;
  if (first === undefined) return undefined;
  const here = own.filter(({ tenant }) => tenant === first.tenant);
  const named = { roles: here.flatMap((one) => one.roles), scopes: here.flatMap((one) => one.scopes) };
  const scopes = scopesOfRoles(named, first.tenant);
  return scopes.length === 0 ? undefined : { tenant: first.tenant, scopes };
}
