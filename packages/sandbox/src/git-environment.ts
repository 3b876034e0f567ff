/** Settings to override every repository's configuration, so a configuration written by an earlier command runs no programs. */
const pinned: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.sshCommand', 'ssh'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['safe.bareRepository', 'explicit'],
  ['protocol.ext.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
];

/**
 * Variables for git in every command's environment. A command can override them in its own text.
 * @param systemConfig path of Holdpoint's gitconfig inside
 */
export function gitEnvironment(systemConfig: string): Record<string, string> {
  const pairs = pinned.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    GIT_CONFIG_SYSTEM: systemConfig,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    // There is no terminal inside. An editor would fail, and so would a rebase or merge asking for a message.
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_CONFIG_COUNT: String(pinned.length),
    ...Object.fromEntries(pairs),
  };
}
