import { createRequire } from 'node:module';
import type { Ajv, Options } from 'ajv';

const require = createRequire(import.meta.url);

/**
 * A validator for JSON Schema of draft 2020-12, or of draft 7 when `$schema` says so. Its modules are loaded at the first call: most processes
 * never need them, and they take 40 ms of CPU time.
 */
export function openAjv($schema: unknown, options: Options): Ajv {
  const ofDraft7 = String($schema ?? '').includes('draft-07');
  const library: typeof import('ajv') = ofDraft7 ? require('ajv') : require('ajv/dist/2020.js');
  const plugin: typeof import('ajv-formats') = require('ajv-formats');
  return plugin.default(new library.default(options));
}
