import { registerHooks } from 'node:module';

// dependency-cruiser parses with the installed package `typescript`. Version 7, used to check this repository, has no compiler API, and two
// packages with a command `tsc` cannot be installed in one folder. So version 6 is installed below this folder and resolved from here.
const resolved = new Map(['typescript', 'typescript/package.json'].map((name) => [name, import.meta.resolve(name)]));
registerHooks({
  resolve(specifier, context, next) {
    const url = resolved.get(specifier);
    return url ? { url, shortCircuit: true } : next(specifier, context);
  },
});
