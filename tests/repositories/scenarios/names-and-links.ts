import { commitFolder, type Scenario } from '../scenario.ts';

const deep = Array.from({ length: 60 }, (_, depth) => `d${depth}`).join('/');

export const names: Scenario = {
  name: 'odd names and links',
  isBounded: true,
  asDirectory: 'bounded',
  make: (folder) => ({
    path: commitFolder(
      folder,
      String.raw`
echo unicode > 'Grüße, 世界 🎉.txt'
printf 'e\xcc\x81' > "$(printf 'decomposed-e\xcc\x81')"; echo composed > "$(printf 'composed-\xc3\xa9')"
echo latin > "$(printf 'latin-\xe9-\xff.txt')"
echo newline > $'a\nb.txt'; echo tab > $'a\tb.txt'; echo control > $'a\x01b'
echo quoted > 'with "quotes".txt'; echo begins > '"begins'; echo single > "it's"
echo back > 'back\slash'; echo star > '*'; echo colon > ':(top)x'; echo dash > ./-dash; echo dashes > ./--help
echo space > ' leading and trailing '; echo dot > ...; echo hash > '#hash'; echo bang > '!bang'; echo tilde > '~'
echo upper > CASE.txt; echo lower > case.txt; : > empty; mkdir -p '${deep}' && echo deep > '${deep}/file'
echo long > "$(printf 'x%.0s' {1..255})"; printf 'long\n' > "$(printf '\xe4\xb8\x96%.0s' {1..85})"
mkdir target && echo in > target/file && echo run > run.sh && chmod +x run.sh
ln -s nowhere dangling; ln -s /etc/hostname absolute; ln -s target to-folder; ln -s ../../outside escapes; ln -s self self
ln -s target/file to-file; ln -s $'odd\n"target\xff' odd-link; mkdir 'sub dir' && ln -s ../target 'sub dir/link'
`,
    ),
  }),
  edits: [
    String.raw`for file in 'Grüße, 世界 🎉.txt' $'a\nb.txt' $'a\tb.txt' 'with "quotes".txt' '"begins' 'back\slash' ./-dash ./--help ' leading and trailing ' "$(printf 'latin-\xe9-\xff.txt')" "$(printf 'composed-\xc3\xa9')"; do echo edited >> "$file"; done
echo edited >> "$(printf 'x%.0s' {1..255})"; echo edited >> "$(printf '\xe4\xb8\x96%.0s' {1..85})"; echo new > "$(printf 'y%.0s' {1..255})"
printf 'caf\xe9 in Latin-1\n' > latin-1.txt`,
    String.raw`mv CASE.txt Case.txt; rm case.txt '*'; echo new > "$(printf 'new-\xfe')"; mkdir "$(printf 'folder-\xfd')"; echo in > "$(printf 'folder-\xfd/x')"; echo changed > '${deep}/file'; chmod -x run.sh; chmod +x empty`,
    `ln -sf elsewhere dangling; rm to-folder && mkdir to-folder && echo now > to-folder/file; rm -r target; ln -s dangling target; rm to-file; echo file > to-file; ln -s /proc/self/environ new-link; rm absolute; : > new-empty`,
  ],
  theirs: String.raw`echo theirs > $'new\nname'; echo theirs > $'a\x01b'; ln -sf other escapes; git mv "it's" 'it is'`,
  conflicting: String.raw`echo other >> '"begins'; echo other >> "$(printf 'latin-\xe9-\xff.txt')"; ln -sf third dangling`,
};
