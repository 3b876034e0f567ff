/** Files with a package manager's list of installed packages, in any folder. */
export const wellKnown = [
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
  ...['bun.lock', 'bun.lockb', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'lerna.json', 'deno.lock'],
  ...[
    'requirements*.txt',
    'requirements*.in',
    'constraints*.txt',
    'pyproject.toml',
    'poetry.lock',
    'uv.lock',
    'pdm.lock',
  ],
  ...['Pipfile', 'Pipfile.lock', 'setup.py', 'setup.cfg', 'pip.conf', 'environment.yml', 'tox.ini'],
  ...[
    'go.mod',
    'go.sum',
    'go.work',
    'go.work.sum',
    'Cargo.toml',
    'Cargo.lock',
    'rust-toolchain',
    'rust-toolchain.toml',
  ],
  ...['Gemfile', 'Gemfile.lock', '*.gemspec', 'composer.json', 'composer.lock', 'mix.exs', 'mix.lock'],
  ...['pom.xml', 'build.gradle', 'build.gradle.kts', 'gradle.lockfile', 'settings.gradle', 'settings.gradle.kts'],
  ...['.nvmrc', '.node-version', '.python-version', '.ruby-version', '.tool-versions', 'mise.toml', '.mise.toml'],
];
/** Folders of installed packages. Where they are committed, their files decide as well. */
export const installed = ['node_modules', '.venv', 'venv', 'vendor', 'target', '.tox', '.yarn', '.pnpm-store'];

/** Files run by package managers, or naming a file to run: any other file read by them is an input, too. */
export const runFiles = [
  ...['binding.gyp', '.pnpmfile.cjs', '.yarnrc.yml', 'setup.py', 'build.rs', '*.gemspec', 'Gemfile'],
  ...['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'mix.exs'],
];

/** Scripts of a `package.json` run by an install. */
export const lifecycleScripts = [
  ...['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish', 'dependencies'],
];
