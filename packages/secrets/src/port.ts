import { secretBytes } from '@holdpoint/contract';
import { SecretError } from './errors.ts';

/** A secret without its value. */
export interface SecretInfo {
  name: string;
  source: 'environment' | 'file' | 'store';
  /** Counts the values set in the store under this name. */
  version: number | null;
  /** RFC 3339 */
  updated_at: string | null;
}

/** A place with secrets. */
export interface SecretProvider {
  /** Tenants with a secret in this place. */
  tenants(): readonly string[];
  list(tenant: string): readonly SecretInfo[];
  /**
   * Reads the value now.
   * @returns undefined when this place has no secret of this name. @throws SecretError
   */
  resolve(name: string, at: { tenant: string }): string | undefined;
  /** Changes whenever a value may have changed. Cheap. */
  stamp(): string;
}

/** @param where the place of the value; begins the message. @throws SecretError `ESECRETVALUE` */
export function checkValue(value: string, where: string): string {
  const bytes = Buffer.byteLength(value);
  const { least, most } = secretBytes;
  if (bytes < least) {
    throw unusable(
      `${where} has fewer than ${least} bytes, so it would occur in texts by chance and could not be redacted`,
    );
  }
  if (bytes > most) throw unusable(`${where} has more than ${most} bytes`);
  if (value.includes('\0')) throw unusable(`${where} has a NUL character`);
  return value;
}

function unusable(problem: string): SecretError {
  const message = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;
  return new SecretError('ESECRETVALUE', message, { next: 'Give it another value, or remove it.' });
}
