import { edit, readAll, run, write } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'bug',
  language: 'Shell',
  prompt:
    'keepsake.sh fails for folders with spaces (or a * or a dash at the start) in their name, and it keeps one archive too many. We also lost archives: with a folder "a" the archives of "a-old" were removed, and those of "axb" by "a.b". Make it do what the README says.',
  tests: 'bash test/run.sh',
  check: 'bash test/hidden.sh',
  wrong: {
    'quotes in the script alone': [
      { file: 'keepsake.sh', from: 'basename $source', to: 'basename -- "$source"' },
      { file: 'keepsake.sh', from: 'mkdir -p $target', to: 'mkdir -p "$target"' },
      {
        file: 'keepsake.sh',
        from: 'tar -cf $target/$name-$stamp.tar -C $(dirname $source) $name',
        to: 'tar -cf "$target/$name-$stamp.tar" -C "$(dirname -- "$source")" -- "$name"',
      },
      { file: 'lib/rotate.sh', from: '$(($3 + 1))', to: '$3' },
    ],
    'names that begin alike': [
      { file: 'keepsake.sh', from: 'basename $source', to: 'basename -- "$source"' },
      { file: 'keepsake.sh', from: 'mkdir -p $target', to: 'mkdir -p "$target"' },
      {
        file: 'keepsake.sh',
        from: 'tar -cf $target/$name-$stamp.tar -C $(dirname $source) $name',
        to: 'tar -cf "$target/$name-$stamp.tar" -C "$(dirname -- "$source")" -- "$name"',
      },
      {
        file: 'lib/rotate.sh',
        from: 'for archive in $(ls $1 | grep "^$2-" | sort -r); do',
        to: 'ls "$1" | grep -F -- "$2-" | sort -r | while IFS= read -r archive; do',
      },
      {
        file: 'lib/rotate.sh',
        from: 'if [ $count -gt $(($3 + 1)) ]; then rm $1/$archive; fi',
        to: 'if [ $count -gt $3 ]; then rm -- "$1/$archive"; fi',
      },
    ],
  },
  *expert() {
    const names = (yield* run('git ls-files')).split('\n').filter((name) => name.endsWith('.sh'));
    const texts = yield* readAll(...names, 'README.md');
    const having = (mark: string) => texts.find((text) => text.includes(mark)) ?? '';
    const main = having('KEEPSAKE_STAMP:-');
    found(having('# keepsake'), /(Archives of other names are left alone)/);
    yield* run(`mkdir -p '/tmp/a b' && ./keepsake.sh '/tmp/a b' /tmp/out 2`);
    yield* edit('keepsake.sh', part(main, 'name=$('), 'name=$(basename -- "$source")');
    yield* edit(
      'keepsake.sh',
      part(main, 'mkdir -p', 'tar -cf'),
      'mkdir -p -- "$target"\ntar -cf "$target/$name-$stamp.tar" -C "$(dirname -- "$source")" -- "./$name"',
    );
    const rotate = `# Removes all but the newest archives of a name: rotate TARGET NAME KEEP
rotate() {
  local stamps=() file stamp
  for file in "$1/$2"-*.tar; do
    stamp=\${file#"$1/$2-"}
    stamp=\${stamp%.tar}
    case $stamp in '' | *[!0-9]*) continue ;; esac
    stamps+=("$stamp")
  done
  printf '%s\\n' "\${stamps[@]}" | sort -rn | tail -n "+$(($3 + 1))" | while IFS= read -r stamp; do
    rm -- "$1/$2-$stamp.tar"
  done
}
`;
    const place = names.find((name) => name.includes('rotate')) ?? '';
    yield* write(place, rotate);
    const tests = `
mkdir "$dir/my photos" "$dir/my photos-old"
for n in 1 2 3; do KEEPSAKE_STAMP=2026010100000$n ./keepsake.sh "$dir/my photos" "$dir/out" 2; done
KEEPSAKE_STAMP=20250101000000 ./keepsake.sh "$dir/my photos-old" "$dir/out" 1
KEEPSAKE_STAMP=20260101000004 ./keepsake.sh "$dir/my photos" "$dir/out" 1
[ "$(ls "$dir/out" | grep -c 'my photos')" -eq 2 ]
echo "ok: spaces, and as many archives as asked for"`;
    expectExit(yield* run(`cat >> test/run.sh <<'END'\n${tests}\nEND\nbash test/run.sh`), 0);
    yield* run('git diff --stat');
    return 'Names are quoted everywhere, exactly KEEP archives stay, and only NAME-DIGITS.tar counts as an archive of a name. The tests pass, with one more.';
  },
});
