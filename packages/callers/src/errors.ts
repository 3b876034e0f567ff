import type { PointerError } from '@holdpoint/contract/wire';

/** A refusal about keys with a stable code. Nothing was changed. */
export class CallerError extends Error {
  override readonly name = 'CallerError';
  readonly code: CallerErrorCode;
  readonly next: string;
  /** The faulty places in the request. */
  readonly errors: readonly PointerError[];

  constructor(code: CallerErrorCode, message: string, errors: readonly PointerError[] = []) {
    super(message);
    this.code = code;
    this.next = nexts[code];
    this.errors = errors;
  }
}

const nexts = {
  unauthorized:
    'Send `Authorization: Bearer <key>` with a key in force; a caller with keys:admin creates one (POST /v1/keys, `holdpoint keys create`). The first key is in the file api-key of the data directory.',
  key_not_found: 'List the keys with GET /v1/keys.',
  invalid_key: 'Correct what `errors` names. Nothing was changed.',
  key_not_allowed: 'Ask for no more than the key that you use has itself; GET /v1/me shows it. Nothing was changed.',
  key_name_taken: 'Choose another name, or revoke the key that has it. Nothing was changed.',
  key_revoked: 'Create a new key.',
  key_in_file:
    'Stop the API, remove the file api-key of the data directory, and start it again: it writes a new key there, and the old one is refused.',
  key_changed: 'Read the key again: another request rotated it at the same moment.',
  session_ended: 'Log in again (`holdpoint login`, `holdpoint open`, or POST /v1/session).',
  session_not_found: 'List the sessions of your key with GET /v1/sessions.',
  sign_in_refused:
    'Have the operator of Holdpoint look at the groups of your account, and at the file of HOLDPOINT_SIGN_IN. Nothing was changed.',
  key_of_sign_in: 'The person signs in instead. Create a key of its own for a program: holdpoint keys create.',
  agent_without_session: 'Log in with the key of a person or a service. An agent sends its key with each request.',
  code_refused: 'Have `holdpoint open` print a new link; it works once, within a minute.',
  key_required: 'Send the key itself (`Authorization: Bearer`), or run `holdpoint open`.',
  passkey_taken: 'Use the passkey as it is, or revoke it first (DELETE /v1/passkeys/{id}).',
  too_many_passkeys: 'Revoke one that is no longer used: GET /v1/passkeys, DELETE /v1/passkeys/{id}.',
  permit_refused: 'Have the operator make a new code: holdpoint passkeys permit PERSON. It works once, within an hour.',
  challenge_gone: 'Begin again with POST /v1/passkeys/registration.',
  too_many_streams:
    'Close a stream of this key first, or have its limit raised (limits.streams, HOLDPOINT_KEY_STREAMS).',
} as const;
export type CallerErrorCode = keyof typeof nexts;

/** Too many requests for a key, or for its tenant. */
export class RateError extends Error {
  override readonly name = 'RateError';
  readonly code = 'too_many_requests';
  readonly next: string;
  /** Whole seconds until a request is accepted again. */
  readonly retryAfterS: number;

  constructor({ of, waitMs }: { of: 'key' | 'tenant'; waitMs: number }) {
    super(of === 'key' ? 'this key sends too many requests' : 'the keys of this tenant send too many requests');
    this.retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
    this.next = `Send it again after the seconds of the header Retry-After; or have the limit raised (HOLDPOINT_${of.toUpperCase()}_RATE).`;
  }
}
