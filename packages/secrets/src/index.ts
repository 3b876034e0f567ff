export { SecretError, type SecretErrorCode } from './errors.ts';
export { loginTenants, savedLogins } from './logins.ts';
export { openSecrets, type Secrets } from './open-secrets.ts';
export type { SecretInfo } from './port.ts';
export type { RedactionStream } from './redaction/redaction-stream.ts';
export type { Redactor } from './redaction/redactor.ts';
export { type SecretSettings, secretSettingsFrom } from './settings.ts';
