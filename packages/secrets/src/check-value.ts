import { secretBytes } from '@holdpoint/contract';
import { SecretError } from './errors.ts';

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
