/** Files that say what a package manager installs, in any folder. */
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
/** Folders of what was installed. Where they are committed, their files decide as well. */
export const installed = ['node_modules', '.venv', 'venv', 'vendor', 'target', '.tox', '.yarn', '.pnpm-store'];

/** Files that package managers run, or that name a file to run: whatever else they read decides, too. */
export const runFiles = [
  ...['binding.gyp', '.pnpmfile.cjs', '.yarnrc.yml', 'setup.py', 'build.rs', '*.gemspec', 'Gemfile'],
  ...['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'mix.exs'],
];

/** Scripts of a `package.json` that an install runs. */
export const lifecycleScripts = [
  ...['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish', 'dependencies'],
];
