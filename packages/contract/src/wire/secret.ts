import { z } from 'zod';
import { secretBytes, secretNameSchema } from '../secret.ts';
import { listOf } from './page.ts';

/** A secret without its value. */
export const secretSchema = z
  .strictObject({
    name: z.string(),
    source: z
      .enum(['environment', 'file', 'store'])
      .describe('Where the value is: a variable or a file of the operator, or the encrypted store'),
    version: z.int().nullable().describe('Counts the values that the store was given under this name; null elsewhere'),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Secret' });
export type Secret = z.infer<typeof secretSchema>;

export const secretListSchema = listOf(secretSchema);
export const secretParamsSchema = z.strictObject({ name: secretNameSchema });

/** PUT /v1/secrets/{name}. */
export const setSecretSchema = z.strictObject({
  value: z
    .string()
    .refine((value) => value.isWellFormed(), 'the text has a lone surrogate, which UTF-8 cannot carry')
    .refine((value) => !value.includes('\0'), 'a secret has no NUL character')
    .refine(
      (value) => bytesOf(value) >= secretBytes.least,
      `shorter than ${secretBytes.least} bytes: it would occur in texts by chance, and could not be redacted`,
    )
    .refine((value) => bytesOf(value) <= secretBytes.most, `longer than ${secretBytes.most} bytes`)
    .describe('Write-only. No answer ever has it'),
});
export type SetSecret = z.input<typeof setSecretSchema>;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
