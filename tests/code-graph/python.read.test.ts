import { it } from 'vitest';
import { expectAgreement } from './expect-agreement.ts';
import { readPython } from './python.ts';

it('agrees with ast and importlib about the standard library', (context) => expectAgreement(context, readPython));
