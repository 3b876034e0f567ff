import type { Repository } from './repositories.ts';
import { bash, type Call, edit, grep, read, type Turn, todos } from './session.ts';

type Session = (repository: Repository, turn: Turn) => Promise<void>;

/** Ordinary work, and then turns without progress, to the end. */
const then =
  (loop: (repository: Repository) => Call[][]): Session =>
  async (repository, turn) => {
    await turn(['list_directory', { path: '.' }]);
    await turn(read(repository.source, { limit: 30 }));
    await turn(bash(repository.probe));
    await turn(grep('import|require'));
    for (let round = 0; round < 24; ) {
      for (const calls of loop(repository)) {
        await turn(...calls);
        round += 1;
      }
    }
  };

export const loopSessions: Record<string, Session> = {
  'the-same-test': then(({ test }) => [[bash(test)]]),
  'there-and-back': then(({ source, bug: [right, wrong] }) => [
    [edit(source, wrong, right)],
    [edit(source, right, wrong)],
  ]),
  'there-and-back-with-tests': then(({ source, test, bug: [right, wrong] }) => [
    [edit(source, wrong, right)],
    [bash(test)],
    [edit(source, right, wrong)],
    [bash(test)],
  ]),
  'reading-and-testing': then(({ source, test }) => [[read(source, { limit: 20 })], [bash(test)]]),
  'an-edit-that-never-fits': then(({ source }) => [[edit(source, 'these words are not there', 'others')]]),
  'an-edit-that-never-fits-after-a-look': then(({ source }) => [
    [read(source, { limit: 10 })],
    [edit(source, 'not there', 'x')],
    [grep('not there')],
  ]),
  'a-search-without-a-hit': then(() => [[grep('never written here')]]),
  'checkout-edit-test': then(({ source, test, bug: [right, wrong] }) => [
    [bash(`git checkout -q ${source}`)],
    [edit(source, wrong, `${right}`)],
    [bash(`${test} 2>&1 | tail -3`)],
  ]),
  'plans-without-work': then(() => [[todos(['Find the cause', 'in_progress'])], [bash('git status --short')]]),
  'arguments-that-are-wrong': then(({ source }) => [[['read_file', { file: source }]]]),
  'two-calls-at-once': then(({ source, test }) => [[bash(`date; ${test}`), read(source, { limit: 5 })]]),
};
