import type { CreateRun } from '@holdpoint/contract/wire';
import { InvalidArgumentError } from 'commander';

type SecretUse = NonNullable<CreateRun['secrets']>[number];

/** `NAME` or `NAME=VARIABLE`: a variable of the run's commands. */
export function secretVariable(text: string, before: SecretUse[] = []): SecretUse[] {
  const [, name = '', env = name] = /^([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('Expected NAME or NAME=VARIABLE.');
  return [...before, { name, as: { env } }];
}

/** `NAME@host=header` or `NAME@host=header: Bearer {}`: a header added by the proxy. */
export function secretHeader(text: string, before: SecretUse[] = []): SecretUse[] {
  const [, name = '', host = '', header = '', value = '{}'] = /^([^@=]+)@([^=]+)=([^:]+)(?:: *(.+))?$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError("Expected 'NAME@host=header: text with {}'.");
  return [...before, { name, as: { header: { host, name: header, value } } }];
}
