/** Test program: a worker that starts commands until it is killed. Arguments: state directory, bwrap, uid, workspace, line, count. */
import { openSandbox } from '../open-sandbox.ts';

const [stateDir = '', bwrapPath = '', uid = '', path = '', line = '', count = ''] = process.argv.slice(2);
const sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
const workspace = { id: 'run_owned', path, uid: Number(uid), gid: Number(uid) };
for (let index = 0; index < Number(count); index++) {
  void sandbox.run({ workspace, argv: ['/bin/bash', '-c', line], signal: new AbortController().signal });
}
void sandbox.files(workspace).list('.');
