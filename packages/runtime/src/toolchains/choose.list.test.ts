import type { Runtime } from '@holdpoint/sandbox';
import { expect, test } from 'vitest';
import { chooseToolchains } from './project-toolchains.ts';
import { readWanted } from './wanted.ts';

const node = (version: string, isFirst = false): Runtime => ({
  ...{ language: 'node', version, isFirst, path: `/opt/node-${version}/bin/node` },
});
const python = (version: string, isFirst = false): Runtime => ({
  ...{ language: 'python', version, isFirst, path: `/usr/bin/python${version.slice(0, 4)}` },
});
const own: Runtime = { ...node('26.10.0'), path: '/opt/holdpoint/node/bin/node', isOwn: true };
const machine = [node('20.20.2', true), node('22.1.0'), node('22.9.0'), node('18.2.0'), own];

/** The version of Node and whether it fits. */
const chosen = (files: Record<string, string>, runtimes: readonly Runtime[] = machine) =>
  chooseToolchains(runtimes, readWanted(new Map(Object.entries(files))))
    .map(({ toolchain: { version, fits } }) => `${version}${fits ? '' : ' does not fit'}`)
    .join(', ');

test.each([
  [{}, '20.20.2'],
  [{ '.nvmrc': 'v22\n' }, '22.9.0'],
  [{ '.nvmrc': '# ours\n22.1.0\n' }, '22.1.0'],
  [{ '.nvmrc': 'lts/hydrogen' }, '18.2.0'],
  [{ '.nvmrc': 'lts/*' }, '20.20.2'],
  [{ '.nvmrc': 'node' }, '20.20.2'],
  [{ '.nvmrc': '22.5.0' }, '22.9.0 does not fit'],
  [{ '.nvmrc': '16' }, '20.20.2 does not fit'],
  [{ '.nvmrc': 'hostile; rm -rf /' }, '20.20.2 does not fit'],
  [{ '.node-version': '18', '.nvmrc': '22' }, '22.9.0'],
  [{ '.tool-versions': 'ruby 3.1\nnodejs 22.1.0\n' }, '22.1.0'],
  [{ 'package.json': '{"engines":{"node":">=18"}}' }, '20.20.2'],
  [{ 'package.json': '{"engines":{"node":">=21 <23"}}' }, '22.9.0'],
  [{ 'package.json': '{"engines":{"node":7}}' }, '20.20.2'],
  [{ 'package.json': 'not json', '.nvmrc': '' }, '20.20.2'],
])('%j chooses Node %s', (files, expected) => {
  expect(chosen(files)).toBe(expected);
});

test.each([
  [{ '.python-version': '3.12.1\n' }, '3.12.1'],
  [{ '.python-version': '3.12\n' }, '3.12.1'],
  [{ '.python-version': '3.12.9\n' }, '3.12.1 does not fit'],
  [{ '.python-version': 'pypy3.9\n' }, '3.11.2 does not fit'],
  [{ 'pyproject.toml': '[project]\nrequires-python = ">=3.8,<4"\n' }, '3.11.2'],
  [{ 'pyproject.toml': '[project]\nrequires-python = "~=3.12"\n' }, '3.12.1'],
  [{ 'pyproject.toml': '[project]\nrequires-python = "==3.9.*"\n' }, '3.9.5'],
  [{ 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.12"\n' }, '3.12.1'],
  [{ '.tool-versions': 'python 3.9.5' }, '3.9.5'],
])('%j chooses Python %s', (files, expected) => {
  expect(chosen(files, [python('3.11.2', true), python('3.12.1'), python('3.9.5')])).toBe(expected);
});

test("Holdpoint's own Node is chosen only where there is no other, and says so", () => {
  expect(chooseToolchains([own], [])).toMatchObject([{ toolchain: { version: '26.10.0', own: true, fits: true } }]);
  expect(chosen({ '.nvmrc': '26' }, machine)).toBe('20.20.2 does not fit');
  expect(chosen({ '.nvmrc': '20' }, [own])).toBe('26.10.0 does not fit');
  expect(chooseToolchains([], readWanted(new Map([['.python-version', '3.12']])))).toMatchObject([
    { runtime: undefined, toolchain: { language: 'python', version: null, wanted: '3.12', fits: false } },
  ]);
});
