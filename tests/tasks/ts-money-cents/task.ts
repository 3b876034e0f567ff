import { edit, grep, readAll, run, write } from '../expert.ts';
import { expectExit, found, hits, part, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

const inCents = [
  {
    file: 'src/format.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the repository
    from: 'export const format = (sum: number): string => `€ ${sum.toFixed(2)}`;',
    to: `export const format = (sum: number): string => \`\${sum < 0 ? '-' : ''}€ \${(Math.abs(sum) / 100).toFixed(2)}\`;\n\nexport const parseAmount = (text: string): number => Math.round(Number(text) * 100);`,
  },
  { file: 'src/index.ts', from: 'export { format }', to: 'export { format, parseAmount }' },
];

export const task = defineTask({
  kind: 'migration',
  language: 'TypeScript',
  prompt: `Our sums are off by cents. Please move tillbook from floats in units to whole numbers of cents everywhere (prices, amounts, results):
- percent discounts: the discounted sum is rounded to the nearest cent, halves up (105 less 10 % is 95)
- split: the shares add up to the sum. Each gets its exact share rounded down; the cents that are left go one each to the largest remainders, the first one on a tie
- format(450) is "€ 4.50", format(-5) is "-€ 0.05"
- new: parseAmount("4.5") is 450. It reads digits with at most two decimals behind a point, with a minus sign or none; anything else is a RangeError
- an amount that is no safe integer is a RangeError in totalOf, split, discounted and format
Adapt tests and README.`,
  tests: 'node --test',
  check: 'node --test test/tillbook.test.ts',
  wrong: {
    'each share rounded': [
      ...inCents,
      { file: 'src/split.ts', from: '(sum * weight) / all)', to: 'Math.round((sum * weight) / all))' },
      {
        file: 'src/discount.ts',
        from: 'return sum * (1 - discount.percent / 100);',
        to: 'return Math.round(sum * (1 - discount.percent / 100));',
      },
    ],
    'the rest to the first': [
      ...inCents,
      {
        file: 'src/split.ts',
        from: '  return weights.map((weight) => (sum * weight) / all);',
        to: '  const shares = weights.map((weight) => Math.floor((sum * weight) / all));\n  shares[0] = (shares[0] ?? 0) + sum - shares.reduce((a, b) => a + b, 0);\n  return shares;',
      },
    ],
  },
  *expert() {
    const places = hits(yield* grep('number', { path: 'src' }));
    const files = [...new Set(places.map(({ path }) => path))];
    const texts = yield* readAll(...files, 'src/index.ts', 'test/tillbook.test.ts', 'README.md');
    const having = (mark: string) => texts.find((text) => text.includes(mark)) ?? '';
    found(having('toFixed'), /(toFixed\(2\))/);
    yield* write(
      'src/cents.ts',
      `/** @throws RangeError for what is no whole number of cents */
export function checkCents(amount: number): number {
  if (!Number.isSafeInteger(amount)) throw new RangeError(\`not a whole number of cents: \${amount}\`);
  return amount;
}
`,
    );
    const order = having('export function totalOf');
    yield* edit(
      'src/order.ts',
      part(order, 'const sum ='),
      '  const sum = lines.reduce((all, { price, count }) => all + checkCents(price) * count, 0);',
    );
    yield* edit(
      'src/order.ts',
      part(order, 'import {'),
      `import { checkCents } from './cents.ts';\n${part(order, 'import {')}`,
    );
    const discount = having('export function discounted');
    yield* edit(
      'src/discount.ts',
      part(discount, "'percent' in discount", 'return Math.max'),
      `  checkCents(sum);
  if ('percent' in discount) {
    // In hundredths of a percent, because 0.9 has no exact float.
    const kept = Math.round((100 - discount.percent) * 100);
    return Math.floor((sum * kept) / 10_000 + 0.5);
  }
  return Math.max(0, sum - checkCents(discount.amount));`,
    );
    yield* edit(
      'src/discount.ts',
      part(discount, 'export type Discount'),
      `import { checkCents } from './cents.ts';\n\n${part(discount, 'export type Discount')}`,
    );
    yield* write(
      'src/split.ts',
      `import { checkCents } from './cents.ts';

/** Splits a sum among people, equally or by weight. The shares add up to the sum. */
export function split(sum: number, weights: number[]): number[] {
  checkCents(sum);
  const all = weights.reduce((total, weight) => total + weight, 0);
  const exact = weights.map((weight) => (sum * weight) / all);
  const shares = exact.map(Math.floor);
  const left = sum - shares.reduce((total, share) => total + share, 0);
  const byRemainder = exact.map((_, at) => at).sort((one, other) => remainder(other) - remainder(one));
  for (const at of byRemainder.slice(0, left)) shares[at] = (shares[at] as number) + 1;
  return shares;

  // Rounded, so that equal remainders tie.
  function remainder(at: number): number {
    return Math.round(((exact[at] as number) - Math.floor(exact[at] as number)) * 1e9);
  }
}
`,
    );
    const sign = found(having('toFixed'), /`(\S+) \$/);
    yield* write(
      'src/format.ts',
      `import { checkCents } from './cents.ts';

export function format(sum: number): string {
  const digits = String(Math.abs(checkCents(sum))).padStart(3, '0');
  return \`\${sum < 0 ? '-' : ''}${sign} \${digits.slice(0, -2)}.\${digits.slice(-2)}\`;
}

/** Cents of a text such as \`4.5\`. @throws RangeError */
export function parseAmount(text: string): number {
  const [, minus, units, decimals = ''] = /^(-?)(\\d+)(?:\\.(\\d{1,2}))?$/.exec(text) ?? [];
  if (units === undefined) throw new RangeError(\`not an amount: \${text}\`);
  const cents = checkCents(Number(units + decimals.padEnd(2, '0')));
  return minus === '-' ? -cents : cents;
}
`,
    );
    yield* edit(
      'src/index.ts',
      part(having('export { split }'), './format.ts'),
      "export { format, parseAmount } from './format.ts';",
    );
    const tests = textOf(having("from 'node:test'"));
    yield* write(
      'test/tillbook.test.ts',
      tests
        .replaceAll('price: 2.5', 'price: 250')
        .replace('}] }), 5)', '}] }), 500)')
        .replace('10 } }), 4.5)', '10 } }), 450)')
        .replace('format(4.5)', 'format(450)')
        .replace('split(9, [1, 1, 1]), [3, 3, 3]', 'split(100, [1, 1, 1]), [34, 33, 33]')
        .replace('format, split', 'format, parseAmount, split')
        .replace(
          "'€ 4.50');",
          "'€ 4.50');\n  assert.equal(parseAmount('4.5'), 450);\n  assert.throws(() => parseAmount('1,5'), RangeError);",
        ),
    );
    const readme = part(having('# tillbook'), 'Amounts are');
    yield* edit('README.md', readme, readme.replace("in the currency's units", 'whole numbers of cents'));
    const ended = yield* run('node --test');
    found(ended, /pass (2)/);
    expectExit(ended, 0);
    yield* run('git diff --stat');
    return 'All amounts are whole cents now, checked where they come in; split gives the cents that are left by the largest remainder; parseAmount is new. Tests and README follow.';
  },
});
