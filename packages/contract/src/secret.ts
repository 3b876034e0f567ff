import { z } from 'zod';

/** Starts with a letter: a name is neither a path nor an option. */
export const secretNameSchema = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_]{0,99}$/,
    'expected a letter, then letters, digits and underscores; at most 100 characters',
  );

/** Shorter values occur by chance, so they could not be redacted. Both in UTF-8 bytes. */
export const secretBytes = { least: 8, most: 64 * 1024 } as const;

/** Variables with power over the choice of programs or the target of their connections. */
const reservedVariable =
  /^(PATH|HOME|PWD|SHELL|ENV|IFS|TMPDIR|BASH_.*|LD_.*|NODE_.*|HOLDPOINT_.*|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_.*|(CURL|REQUESTS)_CA_BUNDLE|GIT_(SSL_.*|CONFIG.*|EXEC_PATH))$/i;

/** Headers that frame a message or belong to the connection. */
const reservedHeader =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;

const variableSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'expected the name of an environment variable')
  .refine((name) => !reservedVariable.test(name), 'the sandbox sets this variable itself; choose another name');

const headerSchema = z.strictObject({
  host: z
    .string()
    .max(300)
    .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/, 'expected one host, with a port when it is not 443')
    .describe('`host` or `host:port`, without `*`. The network allowlist must name it, too'),
  name: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header')
    .refine((name) => !reservedHeader.test(name), 'this header belongs to the connection; choose another one'),
  value: z
    .string()
    .max(1000)
    .regex(/^[\x20-\x7e]*$/, 'expected printable ASCII')
    .refine((value) => value.split('{}').length === 2, 'expected {} once, where the secret belongs')
    .default('{}')
    .describe('`{}` stands for the secret: `Bearer {}`'),
  plain_http: z
    .boolean()
    .default(false)
    .describe('Send it over plain HTTP, too, where everyone on the way can read it'),
});
export type SecretHeader = z.output<typeof headerSchema>;

type Placeholder = { placeholder: true | 'files' };
type Use = { env: string } | { header: SecretHeader } | Placeholder;
type GivenUse = { env: string } | { header: z.input<typeof headerSchema> } | Placeholder;

/** Not a union: an error then names the wrong field. */
const useSchema = z
  .strictObject({
    env: variableSchema.describe('A variable of every command').optional(),
    header: headerSchema
      .describe('A header that the proxy adds to requests to one host, so that no command holds the value')
      .optional(),
    placeholder: z
      .union([z.literal(true), z.literal('files')])
      .describe(
        '`$ENV.NAME` in arguments, for toolsets that replace placeholders. `files`: calls may write the value into files of the workspace, and snapshots keep it; a publish still refuses such files',
      )
      .optional(),
  })
  .refine((use) => Object.keys(use).length === 1, 'give one of env, header and placeholder') as unknown as z.ZodType<
  Use,
  GivenUse
>;

/** A secret of a run and its use by the run's calls. A secret is recorded by name only. */
export const secretUseSchema = z.strictObject({ name: secretNameSchema, as: useSchema });
export type SecretUse = z.output<typeof secretUseSchema>;

export const secretUsesSchema = z
  .array(secretUseSchema)
  .max(50)
  .superRefine((uses, context) => {
    const seen = new Set<string>();
    uses.forEach(({ as }, at) => {
      const place = placeOf(as);
      if (seen.has(place)) context.addIssue({ code: 'custom', path: [at, 'as'], message: `${place} is given twice` });
      if (!place.startsWith('placeholder')) seen.add(place);
    });
  })
  .describe('Secrets by name, and how calls use them. Sub-agents and forks inherit them');

function placeOf(as: SecretUse['as']): string {
  if ('env' in as) return `the variable ${as.env}`;
  if ('header' in as) return `the header ${as.header.name.toLowerCase()} of ${as.header.host.toLowerCase()}`;
  return 'placeholder';
}

/** The owner and the names of the secrets used by a call. */
export interface SecretScope {
  tenant: string;
  secrets: readonly SecretUse[];
}
