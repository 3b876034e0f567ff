import { join } from 'node:path';
import { projectDir } from '../../harness/processes.ts';
import { commitFolder, type Scenario } from '../scenario.ts';

/** A small library whose tests run in the sandbox: as a step, and as a validator. */
export const withTests: Scenario = {
  name: 'a package with its tests',
  isBounded: true,
  asDirectory: 'full',
  make: (folder) => ({ path: commitFolder(folder, `cp -r '${join(projectDir, 'examples/repos/pagelist')}/.' .`) }),
  edits: [
    '! node --test > /tmp/failed',
    `sed -i 's|return Math.floor(total / perPage) + 1;|return Math.max(1, Math.ceil(total / perPage));|' src/*.js && node --test > /dev/null`,
    'mkdir -p node_modules/dep coverage && echo 1 > node_modules/dep/index.js',
  ],
  validators: ['node --test', 'test -f node_modules/dep/index.js'],
  theirs: 'echo theirs >> README.md',
};

/** Python leaves `__pycache__` behind. */
export const pythonTests: Scenario = {
  name: 'a Python package with its tests',
  make: (folder) => ({
    path: commitFolder(
      folder,
      `cp -r '${join(projectDir, 'examples/repos/cuelines')}/.' . && rm -rf __pycache__ */__pycache__`,
    ),
  }),
  edits: [
    '! python3 -B -m unittest 2> /tmp/failed',
    'mkdir -p cuelines/__pycache__ && echo > cuelines/__pycache__/x.pyc',
    'echo "# more" >> cuelines/cues.py',
  ],
  validators: ['python3 -c "import cuelines"'],
  theirs: 'echo theirs >> README.md',
};
