import type { Scenario } from '../scenario.ts';
import { attributes } from './attributes.ts';
import { ignoreRules } from './ignore-rules.ts';
import { installedPackage } from './installed-package.ts';
import { layouts } from './layouts.ts';
import { mergeDrivers } from './merge-drivers.ts';
import { names } from './names-and-links.ts';
import { oddStates } from './odd-states.ts';
import { sizes } from './sizes.ts';
import { submodules } from './submodules.ts';
import { pythonTests, withTests } from './with-tests.ts';

export const scenarios: readonly Scenario[] = [
  // 105 files; bullmq and zod have 800.
  installedPackage('ioredis', { isBounded: true }),
  ...['bullmq', 'typescript', 'vitest', 'zod'].map((name) => installedPackage(name)),
  names,
  attributes,
  mergeDrivers,
  ignoreRules,
  submodules,
  ...layouts,
  ...oddStates,
  withTests,
  pythonTests,
  ...sizes,
];
