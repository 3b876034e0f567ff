import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const hooks = [
  ...['applypatch-msg', 'pre-applypatch', 'post-applypatch', 'pre-commit', 'pre-merge-commit', 'prepare-commit-msg'],
  ...['commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push', 'pre-receive', 'update'],
  ...['proc-receive', 'post-receive', 'post-update', 'reference-transaction', 'push-to-checkout', 'pre-auto-gc'],
  ...['post-rewrite', 'sendemail-validate', 'fsmonitor-watchman', 'post-index-change'],
];

/** Returns a shell line to create a file of this name, as proof of an execution. */
export type Mark = (name: string) => string;

/** Plants everything git may run in a `.git` folder. */
export function plantGitFolder(gitDir: string, mark: Mark): void {
  for (const hook of hooks) put(join(gitDir, 'hooks', hook), `#!/bin/sh\n${mark(`hook-${hook}`)}\nexit 0\n`, 0o755);
  for (const hook of hooks)
    put(join(gitDir, 'more-hooks', hook), `#!/bin/sh\n${mark(`path-${hook}`)}\nexit 0\n`, 0o755);
  const run = (name: string) => `"${mark(name)}; cat"`;
  appendFileSync(
    join(gitDir, 'config'),
    [
      ...['[core]', `fsmonitor = ${run('fsmonitor')}`, `pager = ${run('pager')}`, `editor = ${run('editor')}`],
      ...[`sshCommand = ${run('ssh')}`, `askPass = ${run('askpass')}`, `gitProxy = ${run('proxy')}`],
      ...[`alternateRefsCommand = ${run('alternates')}`, `attributesFile = ${join(gitDir, 'planted-attributes')}`],
      ...['[filter "planted"]', `clean = ${run('clean')}`, `smudge = ${run('smudge')}`, `process = ${run('process')}`],
      ...[
        'required = false',
        '[diff]',
        `external = ${run('external')}`,
        '[diff "planted"]',
        `textconv = ${run('textconv')}`,
      ],
      ...[
        `command = ${run('diff-command')}`,
        '[merge "planted"]',
        `driver = ${run('merge')}`,
        '[merge]',
        'default = planted',
      ],
      ...['[gpg]', `program = ${run('gpg')}`, '[commit]', 'gpgSign = true', '[log]', 'showSignature = true'],
      ...['[uploadpack]', `packObjectsHook = ${run('pack-objects')}`, '[credential]', `helper = ${run('credential')}`],
      ...['[sequence]', `editor = ${run('sequence')}`, '[alias]', `status = "!${mark('alias')}"`, '[interactive]'],
      ...[`diffFilter = ${run('interactive')}`, '[submodule "planted"]', `update = "!${mark('submodule')}"`],
      ...['[url "ext::sh -c true% "]', 'insteadOf = "/"', '[protocol "ext"]', 'allow = always'],
    ].join('\n'),
  );
  put(join(gitDir, 'planted-attributes'), '* filter=planted diff=planted merge=planted\n');
  put(join(gitDir, 'info/attributes'), '* filter=planted diff=planted merge=planted\n');
  put(join(gitDir, 'objects/info/alternates'), `${join(gitDir, 'other/objects')}\n`);
}

/** Files in a tree, run by passing tools. */
export function treePlants(mark: Mark): Record<string, string> {
  const script = `${mark('script')}\n`;
  const scripts = ['preinstall', 'install', 'postinstall', 'prepare', 'pretest', 'test', 'prepublishOnly', 'start'];
  return {
    '.gitattributes': '* filter=planted diff=planted merge=planted\n',
    // without `update = !…`, refused by git
    '.gitmodules': '[submodule "planted"]\npath = sub\nurl = ./sub\n',
    '.bashrc': script,
    '.bash_profile': script,
    '.profile': script,
    '.zshenv': script,
    '.envrc': script,
    '.npmrc': `node-options=--require ./planted.cjs\nscript-shell=./planted.sh\nignore-scripts=false\n`,
    '.node-options': '--require ./planted.cjs\n',
    'planted.cjs': `require('node:child_process').execSync(${JSON.stringify(mark('required'))});\n`,
    'planted.sh': `#!/bin/sh\n${script}`,
    'package.json': JSON.stringify({
      ...{ name: 'planted', version: '1.0.0', main: './planted.cjs' },
      scripts: Object.fromEntries(scripts.map((name) => [name, mark(`npm-${name}`)])),
    }),
    'vitest.config.ts': `import './planted.cjs';\n`,
    'sitecustomize.py': `import os\nos.system(${JSON.stringify(mark('python'))})\n`,
    Makefile: `all:\n\t${mark('make')}\n`,
    '.vscode/tasks.json': JSON.stringify({ tasks: [{ command: mark('vscode'), runOptions: { runOn: 'folderOpen' } }] }),
    '.husky/pre-commit': script,
    '.pre-commit-config.yaml': `repos: [{repo: local, hooks: [{id: x, language: system, entry: "${mark('pre-commit')}"}]}]\n`,
    'src/a.txt': 'one\ntwo\n',
  };
}

/** Plants start-up files in a home directory. */
export function plantHome(home: string, mark: Mark): void {
  for (const [name, content] of Object.entries(treePlants((one) => mark(`home-${one}`))))
    put(join(home, name), content);
  put(join(home, 'template/hooks/post-checkout'), `#!/bin/sh\n${mark('home-template')}\n`, 0o755);
  const run = (name: string) => `"${mark(name)}; cat"`;
  put(
    join(home, '.gitconfig'),
    `[core]\nfsmonitor = ${run('home-fsmonitor')}\npager = ${run('home-pager')}\n[init]\ntemplateDir = ${home}/template\n[diff]\nexternal = ${run('home-external')}\n`,
  );
}

export function put(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}
