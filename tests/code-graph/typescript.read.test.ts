import { it } from 'vitest';
import { expectAgreement } from './expect-agreement.ts';
import { readTypeScript } from './typescript.ts';

it("agrees with TypeScript's own compiler about this repository", (context) =>
  expectAgreement(context, readTypeScript));
