import { secretNameSchema } from '@holdpoint/contract';
import { z } from 'zod';

export const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

const url = z
  .string()
  .max(2000)
  .refine((value) => URL.canParse(value), { error: 'expected a URL', abort: true })
  .refine((value) => {
    const { protocol, hostname, username, password, hash } = new URL(value);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
    return isSafe && username === '' && password === '' && hash === '';
  }, 'expected an https address without credentials and #');

const metadataDocument = url.refine(
  (value) => value.startsWith('https:') && new URL(value).pathname !== '/',
  'a client is known by an https address with a path',
);

/** How Holdpoint logs in at a server. Every field is optional: a client without an id registers itself. */
export const oauthSchema = z
  .strictObject({
    /** `client_credentials`: no person logs in. */
    grant: z.enum(['authorization_code', 'client_credentials']).default('authorization_code'),
    /** The only accepted authorization server. @default the first that the server names at the login */
    issuer: url.optional(),
    client_id: z
      .string()
      .regex(/^[\x21-\x7e]{1,500}$/, 'expected printable ASCII')
      .optional(),
    /** Name of the secret with the client's secret. */
    client_secret: secretNameSchema.optional(),
    /** The address of the client's metadata document, its id at authorization servers that know such documents. */
    client_metadata_url: metadataDocument.optional(),
    /** @default those that the server asks for */
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'expected the name of a scope'))
      .max(50)
      .optional(),
    /** The port of the redirect. @default any free port */
    redirect_port: z.int().min(1024).max(65535).optional(),
  })
  .superRefine(({ grant, issuer, client_id, client_secret }, context) => {
    const missing = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (client_secret !== undefined && client_id === undefined)
      missing('client_id', 'a secret needs the id of its client');
    if (client_secret !== undefined && issuer === undefined)
      missing('issuer', 'a secret is sent to one authorization server: name it');
    if (grant === 'client_credentials' && client_secret === undefined)
      missing('client_secret', 'client_credentials needs a client with a secret');
  });
