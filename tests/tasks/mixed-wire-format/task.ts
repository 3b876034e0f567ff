import { edit, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const file = 'consumer/decode.js';

export const task = defineTask({
  kind: 'bug',
  language: 'Python and JavaScript',
  needs: ['python3'],
  prompt:
    'Records of some customers arrive broken: byte counters above about a billion come out negative or wrong, and names with umlauts or emoji break everything behind them. README.md describes the format; it is right and other programs use it, so bytes that are right today must not change. Find out which side is wrong and repair it.',
  tests: 'sh test.sh',
  check: 'sh hidden.sh',
  wrong: {
    'unsigned shifts': [
      { file, from: 'if (byte < 0x80) return number;', to: 'if (byte < 0x80) return number >>> 0;' },
      { file, from: '(number >> 1) ^ -(number & 1)', to: '(number >>> 1) ^ -(number & 1)' },
      { file: 'producer/wirelog.py', from: 'varint(len(value)) + data', to: 'varint(len(data)) + data' },
    ],
    'lengths in characters': [
      { file, from: 'number |= (byte & 0x7f) << shift;', to: 'number += (byte & 0x7f) * 2 ** shift;' },
      { file, from: '(number >> 1) ^ -(number & 1)', to: 'number % 2 === 0 ? number / 2 : -(number + 1) / 2' },
    ],
  },
  *expert() {
    const names = (yield* run('git ls-files producer consumer')).split('\n').filter((name) => /\.(py|js)$/.test(name));
    const texts = yield* readAll('README.md', ...names, 'test.sh');
    const having = (mark: string) => texts.find((text) => text.includes(mark)) ?? '';
    found(texts[0] ?? '', /(length in bytes as UTF-8)/);
    const shown = yield* run(
      `for r in '{"n":1073741824}' '{"n":-5000000000}' '{"a":"käse","b":1}'; do echo "$r" | python3 -m producer | od -An -tx1; echo "$r" | python3 -m producer | node consumer/main.js; done`,
    );
    found(shown, /(-1073741824)/);
    const python = having('def varint');
    const js = having('function varint');
    yield* edit('producer/wirelog.py', part(python, 'varint(len(value))'), '    return varint(len(data)) + data');
    // Twice the largest number needs 54 bits, so the sum is taken in BigInt.
    yield* edit(
      file,
      part(js, 'function varint(reader)', /^}/),
      `function bigVarint(reader) {
  let number = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = reader.buffer[reader.at++];
    number |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
}

const varint = (reader) => Number(bigVarint(reader));`,
    );
    yield* edit(
      file,
      part(js, 'const unzigzag'),
      'const unzigzag = (number) => Number((number >> 1n) ^ -(number & 1n));',
    );
    yield* edit(file, part(js, 'type === 0 ?'), '  return type === 0 ? unzigzag(bigVarint(reader)) : text(reader);');
    const last = part(having('got=$('), `try '{"n":300}'`);
    yield* edit(
      'test.sh',
      last,
      `${last}
try '{"n":1073741824}'
try '{"n":-9007199254740991}'
try '{"größe":"käse 🙂","n":5000000000}'`,
    );
    expectExit(yield* run('sh test.sh && git diff --stat'), 0);
    return 'The producer wrote lengths in characters and not in bytes; the consumer put numbers together with 32 bits. Both are repaired, with tests; other bytes stay.';
  },
});
