import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('ecmascript', () => {
  it('reads declarations of TypeScript', async () => {
    expect(
      await readLines(
        'typescript',
        `
export const one = 1;
let two = () => one;
export default function main(a: string, { b, c: d }: Options): Result { const local = a; return run(local, b, d); }
export abstract class Shape<T> extends base.Thing<T> implements Named {
  static count = 0;
  #secret = 1;
  private hidden() {}
  constructor(private readonly size: number) { super(); this.size; }
  abstract area(): number;
  get name(): string { return 'x'; }
}
class Plain extends Shape<Color> { method() {} }
interface Named { readonly name: string; greet(to: Person): void }
export type Pair = { left: string; swap(): Pair };
enum Color { Red, Green = 2 }
namespace Deep.Inner { export function f() {} function g() {} }
declare module 'other' { export const q: number; }
if (two) { const inner = 1; }
export { two as three, Color };
`,
      ),
    ).toEqual({
      symbols: [
        '+constant one',
        '+function two as three',
        '+function main as default',
        '+class Shape',
        '+field Shape.count',
        'field Shape.#secret',
        'method Shape.hidden',
        '+method Shape.constructor',
        'field Shape.size',
        '+method Shape.area',
        '+method Shape.name',
        'class Plain',
        'method Plain.method',
        'interface Named',
        'field Named.name',
        'method Named.greet',
        '+type Pair',
        '+field Pair.left',
        '+method Pair.swap',
        '+enum Color',
        '+field Color.Red',
        '+field Color.Green',
        'module Deep.Inner',
        '+function Deep.Inner.f',
        'function Deep.Inner.g',
        '+module other',
        '+constant other.q',
      ],
      imports: [],
      references: [
        'value one',
        'type Options',
        'type Result',
        'call run',
        'extends base.Thing',
        'extends Named',
        'value this.size',
        'extends Shape',
        'type Color',
        'type Person',
        'type Pair',
        'value two',
        'value two',
        'value Color',
      ],
    });
  });

  it('reads imports and re-exports', async () => {
    expect(
      await readLines(
        'typescript',
        `
import whole, { a, type B as C } from './a.ts';
import * as everything from 'node:path';
import 'side-effect';
import old = require('./old');
export * from './all.ts';
export * as named from './named.ts';
export { x, y as default } from './some.ts';
const lazy = await import('./lazy.ts');
type T = import('./typed.ts').T;
a(C, everything.join);
import(computed);
`,
      ),
    ).toEqual({
      symbols: ['type T'],
      imports: [
        './a.ts {default as whole, a, B as C}',
        'node:path as everything',
        'side-effect',
        './old as old',
        '+./all.ts {*}',
        '+./named.ts as named',
        '+./some.ts {x, y as default}',
        './lazy.ts as lazy',
        './typed.ts',
      ],
      references: ['call a', 'value C', 'value everything', 'value everything.join', 'value computed'],
    });
  });

  it('reads CommonJS', async () => {
    expect(await readLines('javascript', sources.javascript)).toEqual({
      symbols: [
        '+function read',
        '+function plain',
        'method Plain.go',
        '+class Widget as Thing',
        '+field Widget.handle',
      ],
      imports: ['fs as fs', 'path {join as j, resolve}', './once {once}', './inside as x'],
      references: ['value fs', 'call fs.read', 'call j', 'extends EventEmitter', 'value plain', 'value Widget'],
    });
  });

  it('reads elements', async () => {
    expect(await readLines('tsx', sources.tsx)).toEqual({
      symbols: ['+function Page'],
      imports: ['./card {Card}'],
      references: ['type Props', 'value Card', 'call Card.Header', 'call Card'],
    });
  });

  it('keeps imported names that a variable exports, and both modules of a typed require', async () => {
    expect(
      await readLines(
        'typescript',
        `
export const { read, write: put } = await import('./files.ts');
export const tool = require('./tool');
const { hidden } = await import('./hidden.ts');
const plugin: typeof import('./types.ts') = require('./plugin');
const same: typeof import('./same.ts') = require('./same.ts');
`,
      ),
    ).toMatchObject({
      symbols: ['+constant read', '+constant put', '+constant tool'],
      imports: [
        './files.ts {read, write as put}',
        './tool as tool',
        './hidden.ts {hidden}',
        './plugin as plugin',
        './types.ts',
        './same.ts as same',
      ],
    });
  });
});
