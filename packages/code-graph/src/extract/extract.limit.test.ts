import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileFactsSchema } from '../facts.ts';
import { type Language, languages } from '../grammars/grammar-of.ts';
import { sources } from '../testing/sources.ts';
import type { Extractor } from './extractor.ts';
import { openExtractor } from './open-extractor.ts';

const limits = { timeoutMs: 20_000, maxFacts: 5000 };
const reasons = ['too_large', 'minified', 'binary', 'timeout', 'parser_failed'];

function extract(extractor: Extractor, language: Language, content: string | Uint8Array, options = limits) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return extractor.extract({ path: 'file', language, bytes }, options);
}

describe('limits of a file', async () => {
  const extractor = await openExtractor();

  it('refuses what no one has written by hand', async () => {
    expect(await extract(extractor, 'javascript', 'a'.repeat(50 * 1024 * 1024))).toEqual({ unparsed: 'too_large' });
    expect(await extract(extractor, 'javascript', 'a=1;'.repeat(5000))).toEqual({ unparsed: 'minified' });
    expect(await extract(extractor, 'c', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]))).toEqual({ unparsed: 'binary' });
    expect(await extract(extractor, 'typescript', 'a.b()\n'.repeat(150_000))).toEqual({ unparsed: 'too_large' });
  });

  it('reads text that is not UTF-8', async () => {
    const utf16 = await extract(extractor, 'csharp', Buffer.from('\uFEFFclass Été {}', 'utf16le'));
    expect(utf16).toMatchObject({ symbols: [{ name: 'Été' }], has_errors: false });
    const latin1 = await extract(extractor, 'python', Buffer.from('# \xe9\xff\ndef f(): pass', 'latin1'));
    expect(latin1).toMatchObject({ symbols: [{ name: 'f', start: { line: 2, column: 1 } }] });
    const bom = await extract(extractor, 'php', Buffer.from('\uFEFF<?php function f() {}'));
    expect(bom).toMatchObject({ symbols: [{ name: 'f' }] });
    const wide = await extract(extractor, 'javascript', "'😀'; function f() {}");
    expect(wide).toMatchObject({ symbols: [{ start: { line: 1, column: 7 } }] });
  });

  it('stops at its time, and reads the next file', async () => {
    const long = 'f(a, b);\n'.repeat(50_000);
    expect(await extract(extractor, 'typescript', long, { ...limits, timeoutMs: 0 })).toEqual({ unparsed: 'timeout' });
    expect(await extract(extractor, 'typescript', 'function f() {}')).toMatchObject({ symbols: [{ name: 'f' }] });
  });

  it('cuts facts, and keeps declarations before uses', async () => {
    const found = await extract(extractor, 'go', `package a\nfunc f() {\n${'g()\n'.repeat(50)}}`, {
      ...limits,
      maxFacts: 10,
    });
    expect(found).toMatchObject({ symbols: [{ name: 'a' }, { name: 'f' }], imports: [], cut: true });
    expect('references' in found && found.references.length).toBe(8);
  });

  it('bounds the names of deep containers', async () => {
    const found = await extract(extractor, 'java', `${'class A {\n'.repeat(200)}${'}\n'.repeat(200)}`);
    const containers = 'symbols' in found ? found.symbols.map(({ container }) => container.length) : [];
    expect([containers.length, Math.max(...containers)]).toEqual([200, 32]);
    expect(found).toMatchObject({ cut: true });
  });

  it('leaves out names that are no names', async () => {
    const found = await extract(extractor, 'javascript', `function ${'a'.repeat(300)}() {}\nfunction b() {}`);
    expect(found).toMatchObject({ symbols: [{ name: 'b' }], cut: true });
  });
});

describe('hostile text', () => {
  const openings = ['(', '[', '{', '<', '`${', 'a<', 'if (a) {', '"#{', '$(', 'class A {', '-', '(a)(b)*'];
  let extractor: Extractor | undefined;

  async function survives(language: Language, text: string): Promise<void> {
    if (extractor === undefined || extractor.isBroken) extractor = await openExtractor();
    const found = await extract(extractor, language, text, { ...limits, timeoutMs: 200 });
    if ('unparsed' in found) expect(reasons).toContain(found.unparsed);
    else fileFactsSchema.parse(found);
  }

  it.each(languages)('survives brackets without end: %s', async (language) => {
    for (const text of openings) await survives(language, `${text}\n`.repeat(1000));
  });

  it('survives 100,000 brackets', async () => {
    for (const language of ['typescript', 'python', 'java'] as const) await survives(language, '(\n'.repeat(100_000));
    await survives('cpp', '(a)(b)*\n'.repeat(40_000));
  });

  it.each(languages)('says the same twice about a broken file: %s', async (language) => {
    const source = sources[language];
    let extractor = await openExtractor();
    await fc.assert(
      fc.asyncProperty(fc.array(mutation(source.length), { minLength: 1, maxLength: 6 }), async (mutations) => {
        const text = mutations.reduce((now, mutate) => mutate(now), source);
        const first = await extract(extractor, language, text);
        expect(await extract(extractor, language, text)).toEqual(first);
        if (extractor.isBroken) extractor = await openExtractor();
        if ('unparsed' in first) expect(reasons).toContain(first.unparsed);
        else fileFactsSchema.parse(first);
      }),
      { numRuns: 40 },
    );
  });
});

/** Cuts, doubles, swaps or inserts text. */
function mutation(length: number): fc.Arbitrary<(text: string) => string> {
  const at = fc.nat(length);
  const noise = fc.constantFrom(
    '{',
    '}',
    '(',
    ')',
    '"',
    "'",
    '`',
    '/*',
    '#',
    '<',
    ';',
    '\n',
    '\0',
    '\uD800',
    '=>',
    'class ',
  );
  return fc.oneof(
    at.map((end) => (text: string) => text.slice(0, end)),
    at.map((start) => (text: string) => text.slice(start)),
    fc.tuple(at, at).map(
      ([a, b]) =>
        (text: string) =>
          text.slice(0, a) + text.slice(b),
    ),
    fc.tuple(at, at, at).map(
      ([a, b, c]) =>
        (text: string) =>
          text.slice(0, a) + text.slice(b, c) + text.slice(a),
    ),
    fc.tuple(at, noise).map(
      ([a, inserted]) =>
        (text: string) =>
          text.slice(0, a) + inserted + text.slice(a),
    ),
  );
}
