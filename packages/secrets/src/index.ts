export { SecretError, type SecretErrorCode } from './errors.ts';
export { loginTenants, savedLogins } from './logins.ts';
export { openSecrets, type SecretSettings, type Secrets, secretSettingsFrom } from './open-secrets.ts';
export type { SecretInfo } from './port.ts';
export type { RedactionStream, Redactor } from './redaction/redactor.ts';
