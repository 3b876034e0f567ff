import type { ProgramRule } from './command-table.ts';

/** Flags by which git writes a file or runs a program. */
const harmful = ['--output', '--ext-diff', '--textconv', '--show-signature', '--filters', '--exec', '--upload-pack'];
const reads: ProgramRule = { except: harmful };
const only = (...flags: string[]): ProgramRule => ({ only: flags });
const lists = {
  only: [
    ...[
      '-a',
      '-r',
      '-v',
      '-l',
      '-q',
      '-i',
      '--all',
      '--list',
      '--remotes',
      '--verbose',
      '--show-current',
      '--no-color',
    ],
    ...['--color', '--column', '--no-column', '--sort', '--format', '--ignore-case', '--no-abbrev', '--abbrev'],
    ...['--contains', '--no-contains', '--merged', '--no-merged', '--points-at'],
  ],
  values: ['--sort', '--format', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at'],
  operands: 0,
};

/** The reading commands of git. Its configuration may name programs to run, so no flag may change the configuration. */
export const gitRule: ProgramRule = {
  only: ['-C', '--no-pager', '-P', '--no-optional-locks', '--no-replace-objects', '--literal-pathspecs', '--version'],
  values: ['-C'],
  bare: ['--version'],
  subcommands: {
    annotate: reads,
    blame: reads,
    branch: lists,
    'cat-file': reads,
    'check-ignore': reads,
    cherry: reads,
    config: {
      only: [
        '-l',
        '-z',
        '--list',
        '--get',
        '--get-all',
        '--get-regexp',
        '--local',
        '--global',
        '--system',
        '--show-origin',
        '--show-scope',
      ],
      needs: ['-l', '--list', '--get', '--get-all', '--get-regexp'],
    },
    'count-objects': reads,
    describe: reads,
    diff: reads,
    'diff-index': reads,
    'diff-tree': reads,
    'for-each-ref': reads,
    grep: { except: [...harmful, '-O', '--open-files-in-pager'] },
    log: reads,
    'ls-files': reads,
    'ls-tree': reads,
    'merge-base': reads,
    'name-rev': reads,
    reflog: { subcommands: { show: reads }, bare: [], except: harmful },
    remote: { only: ['-v', '--verbose'], operands: 0 },
    'rev-list': reads,
    'rev-parse': { except: [...harmful, '--parseopt', '--sq-quote'] },
    shortlog: reads,
    show: reads,
    'show-ref': reads,
    stash: { subcommands: { list: reads, show: reads } },
    status: reads,
    tag: { only: ['-l', '-n', '-i', '--list', '--sort', '--format', '--column', '--no-column'], operands: 0 },
    version: only('--build-options'),
    whatchanged: reads,
    worktree: { subcommands: { list: only('-v', '--verbose', '--porcelain', '-z') } },
  },
};
