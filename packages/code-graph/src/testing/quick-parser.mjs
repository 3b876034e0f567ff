/** Facts of TypeScript by line, without a grammar: it starts in a fifth of the time. A file with `hang` hangs it, one with `exit` ends it. */
import process from 'node:process';

const place = (line, column) => ({ line, column });

function factsOf(text) {
  const facts = { symbols: [], imports: [], references: [], has_errors: false, cut: false };
  for (const [at, line] of text.split('\n').entries()) {
    const declared = /^(export )?(function|const) (\w+)/.exec(line);
    if (declared) {
      const kind = declared[2] === 'const' ? 'constant' : 'function';
      const [start, end] = [place(at + 1, 1), place(at + 1, line.length + 1)];
      facts.symbols.push({ name: declared[3], kind, container: [], exported: !!declared[1], start, end });
    }
    const imported = /^import { (\w+) } from '(.*)';$/.exec(line);
    if (imported) {
      const names = [{ name: imported[1], as: imported[1] }];
      facts.imports.push({ source: imported[2], names, reexport: false, start: place(at + 1, 1) });
    }
    for (const { 1: name, index } of line.matchAll(/(?<!function )\b(\w+)\(/g)) {
      facts.references.push({ name, kind: 'call', start: place(at + 1, index + 1) });
    }
  }
  return facts;
}

function answer(text) {
  if (text.startsWith('// hang')) for (;;);
  if (text.startsWith('// exit')) process.exit(1);
  process.stdout.write(`${JSON.stringify({ language: 'typescript', facts: factsOf(text) })}\n`);
}

let rest = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (;;) {
    const end = rest.indexOf(10);
    if (end === -1) return;
    const { bytes } = JSON.parse(rest.toString('utf8', 0, end));
    if (rest.length < end + 1 + bytes) return;
    const text = rest.toString('utf8', end + 1, end + 1 + bytes);
    rest = rest.subarray(end + 1 + bytes);
    answer(text);
  }
});
process.stdin.on('end', () => process.exit(0));
