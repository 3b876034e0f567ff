import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HostProgram } from '@holdpoint/sandbox';

/** A program in place of the parser. */
function testProgram(main: string): HostProgram {
  return {
    ...{ name: 'parser of the test', main, files: [{ host: dirname(main), inside: '/opt/holdpoint/test' }] },
    ...{ memory_bytes: 2 ** 31, maxLineBytes: 16 * 1024 * 1024, idleMs: 60_000 },
  };
}

/** Reads lines of TypeScript without a grammar. */
export const quickParser: HostProgram = testProgram(join(import.meta.dirname, 'quick-parser.mjs'));

/**
 * A parser of an attacker, in a new folder below `parent`. `answer` is the body of what it does for each request: `say` writes a line, `n`
 * counts the requests.
 */
export function hostileParser(parent: string, answer: string): HostProgram {
  const directory = mkdtempSync(join(parent, 'hostile-'));
  chmodSync(directory, 0o755);
  const main = join(directory, 'hostile.mjs');
  writeFileSync(
    main,
    `let rest = Buffer.alloc(0), n = 0;
     const say = (value) => process.stdout.write((typeof value === 'string' ? value : JSON.stringify(value)) + '\\n');
     const empty = { symbols: [], imports: [], references: [], has_errors: false, cut: false };
     process.stdin.on('data', (chunk) => {
       rest = Buffer.concat([rest, chunk]);
       for (;;) {
         const end = rest.indexOf(10);
         if (end === -1) return;
         const { bytes } = JSON.parse(rest.subarray(0, end));
         if (rest.length < end + 1 + bytes) return;
         const text = rest.subarray(end + 1, end + 1 + bytes).toString();
         rest = rest.subarray(end + 1 + bytes);
         if (bytes === 0) { say({ unparsed: 'unknown_language' }); continue; }
         n++;
         ${answer}
       }
     });`,
    { mode: 0o644 },
  );
  return testProgram(main);
}
