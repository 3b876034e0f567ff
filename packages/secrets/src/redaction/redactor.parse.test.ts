import { randomBytes } from 'node:crypto';
import { assert, asyncProperty, integer, property, string, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openRedactor } from './redactor.ts';

const value = 'tok/en+with "quotes" & 100% Ünïcode';
const redactor = openRedactor([{ name: 'TOKEN', value }]);
const bytes = Buffer.from(value);

const percentOf = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const wrapped = (text: string, width: number) => text.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n');

describe('every form of a secret', () => {
  it.each([
    ['as it is', value],
    ['base64 at 0', bytes.toString('base64')],
    ['base64 at 1', Buffer.concat([Buffer.from('a'), bytes, Buffer.from('zz')]).toString('base64')],
    ['base64 at 2', Buffer.concat([Buffer.from('ab'), bytes, Buffer.from('z')]).toString('base64')],
    ['base64 for URLs', bytes.toString('base64url')],
    ['wrapped base64', wrapped(Buffer.concat([randomBytes(70), bytes, randomBytes(70)]).toString('base64'), 76)],
    ['hex', bytes.toString('hex')],
    ['HEX', bytes.toString('hex').toUpperCase()],
    ['wrapped hex', wrapped(bytes.toString('hex'), 60)],
    ['encodeURIComponent', encodeURIComponent(value)],
    ['a form', new URLSearchParams({ q: value }).toString()],
    ['lower-case percent', encodeURIComponent(value).replaceAll(/%../g, (encoded) => encoded.toLowerCase())],
    ['percent of every byte', percentOf(value)],
    ['JSON', JSON.stringify(value)],
    ['JSON within JSON', JSON.stringify(JSON.stringify({ value }))],
    ['JSON in ASCII', JSON.stringify(value).replaceAll('Ü', '\\u00dc').replaceAll('ï', '\\u00ef')],
    ['JSON with escaped slashes', JSON.stringify(value).replaceAll('/', '\\/')],
  ])('%s', (_name, form) => {
    const text = redactor.text(`before ${form} after`);
    expect(text).toMatch(/^before .*\[secret TOKEN\].* after$/s);
    expect(redactor.find(text)).toEqual([]);
    expect(text.length).toBeLessThan(form.length < 200 ? 60 : 300);
  });

  it('finds one line of a key alone', () => {
    const lines = [randomBytes(45).toString('base64'), randomBytes(45).toString('base64')];
    const key = openRedactor([{ name: 'KEY', value: `-----BEGIN KEY-----\n${lines.join('\n')}\n-----END KEY-----\n` }]);
    expect(key.text(`x ${lines[1]} -----BEGIN KEY-----`)).toBe('x [secret KEY] -----BEGIN KEY-----');
  });
});

describe('streams', () => {
  const cut = (input: Buffer, sizes: readonly number[]): Buffer => {
    const stream = redactor.stream();
    const parts: Buffer[] = [];
    let at = 0;
    for (const size of sizes) {
      parts.push(stream.push(input.subarray(at, at + size)));
      at += size;
    }
    return Buffer.concat([...parts, stream.push(input.subarray(at)), stream.end()]);
  };

  it('redacts the same however it is cut', () => {
    const pieces = [
      bytes,
      Buffer.from(bytes.toString('base64')),
      Buffer.from(encodeURIComponent(value)),
      Buffer.from('%4'),
    ];
    assert(
      property(
        uint8Array({ maxLength: 40 }),
        integer({ min: 0, max: 3 }),
        uint8Array({ maxLength: 60 }),
        (noise, which, sizes) => {
          const input = Buffer.concat([noise, pieces[which] ?? bytes, noise]);
          const whole = cut(input, []);
          expect(
            cut(
              input,
              [...sizes].map((size) => size % 7),
            ),
          ).toEqual(whole);
          if (which < 3) expect(whole.toString('latin1')).toContain('[secret TOKEN]');
        },
      ),
    );
  });

  it('releases what cannot belong to a secret, and holds less than the longest form', () => {
    const stream = redactor.stream();
    expect(stream.push(Buffer.from('ready\n')).toString()).toBe('ready\n');
    let held = 0;
    for (const byte of Buffer.concat(Array.from({ length: 100 }, () => bytes.subarray(0, -1)))) {
      held += 1 - stream.push(Buffer.from([byte])).length;
      expect(held).toBeLessThan(bytes.length * 8);
    }
  });

  it('shows what it held when nothing follows, unless that is half of a value or more', () => {
    const stream = openRedactor([
      { name: 'URL', value: 'https://user:word@host' },
      { name: 'SHORT', value: 'tokens-8' },
    ]).stream();
    const push = (text: string) => stream.push(Buffer.from(text)).toString();
    const rest = () => stream.rest().toString();
    expect([push('go to '), push('https://'), rest()]).toEqual(['go t', 'o ', 'https://']);
    // The rest of a value that comes later is replaced, and what stands behind it stays.
    expect([push('user:w'), rest(), push('ord@host!')]).toEqual(['', '', '[secret URL]!']);
    expect([push('wait'), rest(), push(' tok'), rest()]).toEqual(['wai', 't', ' ', 'tok']);
    expect([push('y toke'), rest(), stream.end().toString()]).toEqual(['y ', '', 'toke']);
  });

  it('never shows half of a value, wherever the pauses are', () => {
    const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
    assert(
      property(uint8Array({ maxLength: 30 }), uint8Array({ maxLength: 40 }), (noise, sizes) => {
        const stream = redactor.stream();
        const input = Buffer.concat([noise, bytes, noise]);
        const parts: Buffer[] = [];
        let at = 0;
        for (const size of sizes) {
          parts.push(stream.push(input.subarray(at, at + (size % 9))), stream.rest());
          at += size % 9;
        }
        const out = Buffer.concat([...parts, stream.push(input.subarray(at)), stream.end()]);
        expect(out.includes(half)).toBe(false);
        expect(out.toString('latin1')).toContain('[secret TOKEN]');
        expect(out.subarray(-noise.length || out.length)).toEqual(Buffer.from(noise));
      }),
    );
  });

  it('marks a run of overlapping values once', () => {
    const periodic = openRedactor([{ name: 'A', value: 'aaaaaaaa' }]);
    const stream = periodic.stream();
    const out = Array.from({ length: 50 }, () => stream.push(Buffer.from('aaaa')).toString()).join('');
    expect(out + stream.push(Buffer.from('b')).toString() + stream.end().toString()).toBe('[secret A]b');
  });
});

describe('text and JSON', () => {
  it('returns other text unchanged', () => {
    assert(property(string({ unit: 'binary', maxLength: 200 }), (text) => redactor.text(text) === text));
    expect(redactor.text('\ud800 lone')).toBe('\ud800 lone');
  });

  it('replaces values and names of fields, and wrapped base64', () => {
    const numeric = openRedactor([{ name: 'PIN', value: '1234567890' }]);
    expect(numeric.json({ '1234567890': [1234567890, 7, null, true] })).toEqual({
      '[secret PIN]': ['[secret PIN]', 7, null, true],
    });
    const text = wrapped(Buffer.concat([Buffer.alloc(50, 'x'), bytes, Buffer.alloc(50, 'x')]).toString('base64'), 76);
    expect(redactor.json({ stdout: text }).stdout).toContain('[secret TOKEN]');
    const same = { stdout: 'nothing here' };
    expect(redactor.json(same)).toBe(same);
  });

  it('names every secret that it finds', async () => {
    const two = openRedactor([
      { name: 'FIRST', value: 'first-secret' },
      { name: 'SECOND', value: 'second-secret' },
    ]);
    expect(two.find('a first-secret and second-secret')).toEqual(['FIRST', 'SECOND']);
    await assert(
      asyncProperty(integer({ min: 1, max: 12 }), async (size) => {
        const search = two.search();
        for (const chunk of 'xx second-secret'.match(new RegExp(`.{1,${size}}`, 'g')) ?? [])
          search.read(Buffer.from(chunk));
        expect(search.found()).toEqual(['SECOND']);
      }),
    );
  });
});

it('takes time in proportion to the input, whatever the input is', () => {
  const values = Array.from({ length: 50 }, (_, index) => ({
    name: `S${index}`,
    // Repeated without its end, it does not hold itself: its only `.` is there.
    value: `ghp_${randomBytes(27).toString('base64url')}.`,
  }));
  const many = openRedactor(values);
  const first = values[0]?.value ?? '';
  const steps = (content: Buffer) => many.search().read(content);
  for (const text of ['ghp_', first.slice(0, -1), '%67%68', first]) steps(Buffer.alloc(1_000_000, text));
  expect(many.find(Buffer.alloc(1_000_000, first.slice(0, -1)))).toEqual([]);
});
