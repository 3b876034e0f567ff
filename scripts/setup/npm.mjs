import fs from 'node:fs';
import path from 'node:path';
import { findProgram } from './find-program.mjs';
import { run } from './run.mjs';

/** No package needs its install script: every native part is a package per platform. */
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

export const checkRegistry =
  'Check that the package registry can be reached (`npm ping`; behind a proxy: `npm config get proxy`), then run the command again.';

/**
 * Runs npm with the Node of this set-up.
 *
 * @param {import('./machine.mjs').Machine} machine
 * @param {string} cwd
 * @param {string[]} args
 */
export function npm(machine, cwd, args) {
  const cli = findCli(machine);
  const command = cli === undefined ? ['npm'] : [machine.execPath, cli];
  return run(machine, [...command, ...args, ...quiet, '--prefix', cwd], {
    cwd,
    env: environment(machine, cli),
    doing: `npm ${args[0]} in ${path.relative(machine.root, cwd) || 'this directory'}`,
    what: `npm ${args.join(' ')} failed in ${cwd}`,
    next: checkRegistry,
  });
}

/** @param {import('./machine.mjs').Machine} machine */
function findCli({ env, execPath }) {
  const candidates = [
    env.npm_execpath,
    findProgram({ env }, 'npm'),
    path.join(path.dirname(execPath), '../lib/node_modules/npm/bin/npm-cli.js'),
  ];
  for (const candidate of candidates) {
    if (candidate === undefined || !fs.existsSync(candidate)) continue;
    const real = fs.realpathSync(candidate);
    // npm_execpath may be another package manager, and `npm` may be a version manager's shim.
    if (path.basename(real) === 'npm-cli.js') return real;
  }
  return undefined;
}

/**
 * npm looks for its global configuration (certificates, proxies) next to its Node. Next to the private
 * Node lies none, so this function passes the configuration next to npm. Inside an npm script npm has already set the variable.
 *
 * @param {import('./machine.mjs').Machine} machine
 * @param {string | undefined} cli
 */
function environment({ env }, cli) {
  if (cli === undefined || env.npm_config_globalconfig !== undefined) return env;
  const prefix = prefixOf(cli);
  return prefix === undefined ? env : { ...env, npm_config_globalconfig: path.join(prefix, 'etc/npmrc') };
}

/**
 * `/usr/lib/node_modules/npm/bin/npm-cli.js` → `/usr`
 *
 * @param {string} cli
 */
export function prefixOf(cli) {
  const tail = path.join(path.sep, 'lib/node_modules/npm/bin/npm-cli.js');
  return cli.endsWith(tail) ? cli.slice(0, -tail.length) || path.sep : undefined;
}
