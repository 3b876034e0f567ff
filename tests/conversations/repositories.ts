import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A real module with its own tests, and a bug planted in it. */
export interface Repository {
  name: string;
  /** Path in the repository, and path on this machine. */
  files: Record<string, string>;
  source: string;
  test: string;
  bug: [from: string, to: string];
  /** Something the module does not have, and a question to it. */
  probe: string;
}

/** The folder of CPython's library, with its tests: `python3.11/` of an installation from source. */
const python = process.argv[2] ?? 'python3.11';
const module = (name: string, bug: Repository['bug'], probe: string): Repository => ({
  ...{ name, source: `${name}.py`, bug, test: `python3 -m unittest test_${name}`, probe: `python3 -c "${probe}"` },
  files: { [`${name}.py`]: `${python}/${name}.py`, [`test_${name}.py`]: `${python}/test/test_${name}.py` },
});

const npm = (name: string, file: string, bug: Repository['bug'], probe: string): Repository => ({
  ...{ name, source: 'index.js', bug, test: 'node --test', probe: `node -e '${probe}'` },
  files: {
    'index.js': `node_modules/${name}/${file}`,
    'package.json': `node_modules/${name}/package.json`,
    'index.test.js': `tests/conversations/testing/${name}.test.js.txt`,
  },
});

export const repositories: readonly Repository[] = [
  module(
    'textwrap',
    ["chunks[-1].strip() == ''", "chunks[-1].strip() != ''"],
    "import textwrap; assert textwrap.wrap('a  b', 2) == ['a', 'b']",
  ),
  module(
    'shlex',
    ["self.quotes = '\\'\"'", "self.quotes = '\"'"],
    "import shlex; assert shlex.split('a \\'b c\\'') == ['a', 'b c']",
  ),
  module('fnmatch', ["pat[j] == '!'", "pat[j] == '^'"], "import fnmatch; assert not fnmatch.fnmatch('a', '[!a]')"),
  module('bisect', ['hi = mid\n', 'hi = mid - 1\n'], 'import bisect; assert bisect.bisect([1, 2, 3], 2) == 9'),
  module(
    'graphlib',
    ['successor_info.npredecessors -= 1', 'successor_info.npredecessors -= 2'],
    "import graphlib; list(graphlib.TopologicalSorter({'a': {'b', 'c'}}).static_order())[2]",
  ),
  module(
    'colorsys',
    ['(2.0-maxc-minc)', '(2.0-maxc+minc)'],
    'import colorsys; assert colorsys.rgb_to_hls(1, 1, 0.5)[2] == 0.5',
  ),
  npm(
    'ms',
    'index.js',
    ['var d = h * 24', 'var d = h * 42'],
    'const a = require("assert"), ms = require("./index.js"); a.equal(ms("1d"), 1)',
  ),
  npm(
    'fast-decode-uri-component',
    'index.js',
    ['0x7F, 0x3F, 0x3F, 0x3F', '0x7E, 0x3F, 0x3F, 0x3F'],
    'require("assert").equal(require("./index.js")("%41"), "B")',
  ),
];

export async function layOut({ files, source, bug: [from, to] }: Repository, folder: string): Promise<void> {
  for (const [path, origin] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(origin, join(folder, path), { dereference: true });
  }
  const text = await readFile(join(folder, source), 'utf8');
  if (!text.includes(from)) throw new Error(`${source} has no ${from}`);
  await writeFile(join(folder, source), text.replace(from, to));
}
