import { z } from 'zod';
import { isListable } from './url-list.ts';

const mebibyte = 1024 * 1024;

/** The settings of the toolset in a run. */
export const workbenchSettings = z.strictObject({
  url_allowlist: z
    .array(
      z
        .string()
        .min(1)
        .max(300)
        .refine(isListable, 'expected an origin (https://example.com:8443) or a host (*.example.com:8443)'),
    )
    .max(100)
    .default([])
    .describe(
      'Where web_fetch goes without a question: origins (`https://example.com`) or hosts (`example.com`, `example.com:8443`, `*.example.com`)',
    ),
  code_network: z
    .boolean()
    .default(false)
    .describe("Whether run_code reaches the hosts of the run's network allowlist. Otherwise it has no network"),
  file_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('Bytes of the largest file that read_file returns'),
  output_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('Bytes that run_code may print. It is killed above them, so that what it printed is always whole'),
  body_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(5 * mebibyte)
    .describe('Bytes of a body that web_fetch returns. A longer one is cut and marked'),
});
