import { edit, glob, read, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'bug',
  language: 'JavaScript',
  prompt:
    '/users/new shows the page of a user with the id "new", because /users/:id was added first. Read in the README how routes should be found, and make the router do all of what it says there: order, *, decoding. A path that cannot be decoded matches no route.',
  tests: 'node --test',
  check: 'node --test test/hidden.test.js test/router.test.js',
  wrong: {
    'sorted by length': [
      {
        file: 'lib/router.js',
        from: 'segments: segmentsOf(pattern), handler });',
        to: "segments: segmentsOf(pattern), handler });\n    this.#routes.sort((a, b) => a.pattern.split(':').length - b.pattern.split(':').length);",
      },
      { file: 'lib/match.js', from: '= given;', to: '= decodeURIComponent(given);' },
    ],
    'the whole path decoded': [
      { file: 'lib/router.js', from: 'segmentsOf(path);', to: 'segmentsOf(decodeURIComponent(path));' },
    ],
  },
  *expert() {
    const files = (yield* glob('lib/*.js')).split('\n').slice(1);
    const [readme = ''] = yield* readAll('README.md', ...files);
    found(readme, /(one or more segments)/);
    const match = yield* read('lib/match.js');
    yield* edit(
      'lib/match.js',
      part(match, "kind === 'rest'"),
      "    if (kind === 'rest') return at < segments.length ? { ...params, rest: segments.slice(at).join('/') } : null;",
    );
    const router = yield* read('lib/router.js');
    yield* edit(
      'lib/router.js',
      part(router, 'this.#routes.push'),
      `${part(router, 'this.#routes.push')}\n    this.#routes.sort(byExactness);`,
    );
    yield* edit(
      'lib/router.js',
      part(router, '    const segments = segmentsOf(path)'),
      '    const segments = decoded(segmentsOf(path));\n    if (segments === undefined) return undefined;',
    );
    const imported = part(router, "from './segments.js'");
    yield* edit(
      'lib/router.js',
      imported,
      `import { kindOf, segmentsOf } from './segments.js';

const ranks = { fixed: 0, param: 1, rest: 2 };

/** The first segment of another kind decides. Equal routes keep their order. */
function byExactness(one, other) {
  for (let at = 0; at < Math.min(one.segments.length, other.segments.length); at++) {
    const difference = ranks[kindOf(one.segments[at])] - ranks[kindOf(other.segments[at])];
    if (difference !== 0) return difference;
  }
  return 0;
}

function decoded(segments) {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}`,
    );
    const tests = `
test('a fixed segment counts before a parameter', () => {
  const other = new Router().add('/users/:id', 'show').add('/users/new', 'new');
  assert.equal(other.find('/users/new').handler, 'new');
  assert.deepEqual(other.find('/users/a%20b').params, { id: 'a b' });
  assert.equal(other.find('/users/%'), undefined);
});`;
    expectExit(
      yield* run(
        `cat >> test/router.test.js <<'END'\n${tests}\nEND\nnode --test; code=$?; git diff --stat; exit $code`,
      ),
      0,
    );
    return 'Routes are kept in the order of their exactness, segment by segment; * needs a segment; segments are decoded one by one. Tests pass.';
  },
});
