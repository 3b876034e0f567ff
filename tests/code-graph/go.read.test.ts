import { it } from 'vitest';
import { expectAgreement } from './expect-agreement.ts';
import { readGo } from './go.ts';

it('agrees with go/parser about the standard library of Go', (context) => expectAgreement(context, readGo));
