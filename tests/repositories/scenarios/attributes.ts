import { git, runScript } from '../real-git.ts';
import { commitFolder, type Scenario } from '../scenario.ts';

const pointer = (content: string) =>
  `printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' "$(printf '${content}' | sha256sum | cut -d ' ' -f 1)" ${content.length}`;

/** The repository had CRLF before its attributes. LFS content is in git-lfs's place. */
export const attributes: Scenario = {
  name: 'line endings and LFS',
  isBounded: true,
  asDirectory: 'full',
  make(folder) {
    const path = commitFolder(
      folder,
      String.raw`
printf 'one\r\ntwo\r\nthree\r\n' | tee mode-only.auto was-crlf.txt was-crlf.auto raw.dat crlf.bat > /dev/null
printf 'one\ntwo\nthree\n' | tee lf.txt lf.auto lf.sh lf.bat text.eol > /dev/null
printf 'one\r\ntwo\nthree\r\n' | tee mixed.txt mixed.auto mixed.none > /dev/null
printf 'bin\0ary\r\n' | tee binary.auto binary.dat > /dev/null; printf '$Id$\nx\n' > ident.c
`,
    );
    const lfs = `${pointer('first content')} > model.bin; ${pointer('second')} > data.bin; mkdir -p .git/lfs/objects; for c in 'first content' second; do s=$(printf "$c" | sha256sum | cut -d ' ' -f 1); mkdir -p .git/lfs/objects/\${s:0:2}/\${s:2:2}; printf "$c" > .git/lfs/objects/\${s:0:2}/\${s:2:2}/$s; done`;
    const rules =
      "printf '[attr]mine text\\n*.macro mine\\n*.input text=input\\n*.old crlf\\n*.txt text\\n*.auto text=auto\\n*.bat text eol=crlf\\n*.sh text eol=lf\\n*.eol eol=crlf\\n*.dat -text\\n*.c ident\\n*.bin filter=lfs diff=lfs merge=lfs -text\\nunion.md merge=union\\n' > .gitattributes; echo begin > union.md";
    git(path, ['config', 'core.bare', 'false']);
    commitMore(path, `${lfs}; ${rules}`);
    return { path };
  },
  edits: [
    String.raw`for file in [!m]*.txt mixed.txt [!m]*.auto mixed.auto *.bat *.sh *.eol *.dat *.none; do printf 'added\r\n' >> "$file"; done; printf 'new\r\nfile\r\n' | tee new.txt new.macro new.input new.old new.auto new.bat new.sh new.dat new.none > /dev/null`,
    String.raw`printf '$Id: changed $\ny\n' > ident.c; head -c 300000 /dev/zero | tr '\0' b > model.bin; echo new > new.bin; : > empty.bin; mv data.bin moved.bin; chmod +x mode-only.* lf.sh crlf.bat was-crlf.txt; echo mine >> union.md`,
    String.raw`mkdir sub && printf '*.txt -text\n*.late text\n' > sub/.gitattributes && printf 'x\r\ny\r\n' | tee sub/a.txt sub/b.late > /dev/null; mv mixed.txt sub/; mv was-crlf.auto moved.auto`,
  ],
  theirs: String.raw`printf 'theirs\r\n' > theirs.txt; echo theirs >> union.md; sed -i '1s/one/ONE/' lf.auto lf.sh`,
  conflicting: String.raw`printf 'other\r\n' >> lf.txt; printf 'other\r\n' >> raw.dat; echo other > model.bin`,
};

/** Commits unconverted bytes, despite the attributes of the tree. */
function commitMore(path: string, script: string): void {
  const raw = ['-c', 'filter.lfs.clean=cat', '-c', 'filter.lfs.required=false'];
  runScript(path, script);
  git(path, [...raw, 'add', '.gitattributes', 'model.bin', 'data.bin', 'union.md']);
  git(path, [...raw, 'commit', '-q', '-m', 'attributes']);
}
