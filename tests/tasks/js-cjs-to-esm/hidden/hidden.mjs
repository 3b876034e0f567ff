import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = process.cwd();
const other = mkdtempSync(join(tmpdir(), 'user-'));
mkdirSync(join(other, 'node_modules'));
symlinkSync(root, join(other, 'node_modules', 'wordlist'));
writeFileSync(join(other, 'text.txt'), 'A bird of the sea. Bird!');
const node = (...args) => execFileSync(process.execPath, args, { cwd: other, encoding: 'utf8' });

writeFileSync(join(other, 'use.mjs'), `import { count, formats, language, stopWords } from 'wordlist';
console.log(JSON.stringify([count('the sea'), formats.table({ x: 1 }), language, [...stopWords()]]));`);
assert.deepEqual(JSON.parse(node('use.mjs')), [{ sea: 1 }, 'x\t1', 'en', ['the', 'a', 'of']]);
assert.equal(node(join(root, 'bin/wordlist.js'), 'text.txt'), 'bird\t2\nsea\t1\n');
writeFileSync(join(other, 'link.mjs'), `import 'wordlist/bin/wordlist.js'; console.log('quiet');`);
const meta = JSON.parse(readFileSync('package.json', 'utf8'));
assert.equal(meta.type, 'module');
assert.equal(JSON.stringify(meta.exports ?? '').includes('lib/index.js'), true, 'exports name the entry');
const files = execFileSync('sh', ['-c', "find lib bin test -name '*.*js'"], { encoding: 'utf8' }).trim().split('\n');
for (const file of files) assert.doesNotMatch(readFileSync(file, 'utf8'), /\brequire\s*\(|module\.exports|^exports\.|__dirname|createRequire/m, file);
writeFileSync(join(other, 'quiet.mjs'), `await import(${JSON.stringify(join(root, 'bin/wordlist.js'))}); console.log('quiet');`);
assert.equal(node('quiet.mjs'), 'quiet\n');
symlinkSync(join(root, 'bin/wordlist.js'), join(other, 'wl'));
assert.equal(node('wl', 'text.txt'), 'bird\t2\nsea\t1\n');
