/** Files that import and use each other. */
export function sourceTree(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let n = 0; n < count; n++) {
    const other = (n * 7 + 1) % count;
    files[`src/d${n % 5}/f${n}.ts`] = [
      `import { f${other} } from '../d${other % 5}/f${other}.ts';`,
      `export function f${n}(x: number): number {`,
      `  return f${other}(x) + ${n};`,
      '}',
      `export const c${n} = ${n};`,
      ...Array.from({ length: 20 }, (_, line) => `export function g${n}_${line}() { return f${n}(c${n}); }`),
      '',
    ].join('\n');
  }
  return files;
}
