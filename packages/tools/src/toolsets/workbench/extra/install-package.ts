import { z } from 'zod';
import { builtInTool } from '../../built-in-tool.ts';
import { type Argv, outputOf, runProgram } from './run-program.ts';

const input = z.strictObject({
  name: z
    .string()
    .max(214)
    .regex(/^(@[a-z0-9-~][\w.-]*\/)?[A-Za-z0-9][\w.-]*$/, 'expected the name of a package')
    .describe('Name in the registry; no path and no URL'),
  version: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9^~<>=*][\w.+<>=*^~-]*$/, 'expected a version')
    .optional(),
  manager: z.enum(['npm', 'pip']).default('npm'),
});

const hosts = { npm: ['registry.npmjs.org:443'], pip: ['pypi.org:443', 'files.pythonhosted.org:443'] };

/** A package's programs run at its use, never during the installation by npm. */
function argvOf({ name, version, manager }: z.output<typeof input>): Argv {
  if (manager === 'npm') {
    const wanted = version === undefined ? name : `${name}@${version}`;
    return ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--', wanted];
  }
  return [
    'python3',
    '-m',
    'pip',
    'install',
    '--target',
    '.packages',
    '--',
    version === undefined ? name : `${name}==${version}`,
  ];
}

export const installPackage = builtInTool({
  name: 'install_package',
  description:
    'Installs a package of a registry into the workspace, with npm or pip. A person is always asked first, and the run needs a network that reaches the registry.',
  effect: 'external',
  risk: 'high',
  label: 'dangerous',
  version: '1.0.0',
  input,
  asks: true,
  touches: (args) => ({ argv: [...argvOf(args)], hosts: hosts[args.manager] }),
  async execute(context, args) {
    const ran = await runProgram(context, argvOf(args), { wallMs: 300_000 });
    if (!ran.ok) return ran.outcome;
    const { capabilities } = ran.result;
    return { status: 'succeeded', value: outputOf(ran.result), capabilities };
  },
});
