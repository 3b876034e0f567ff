/** The names of the notes that have a word, sorted. */
export function search(store, word, done) {
  store.list((error, names) => {
    if (error) return done(error);
    const found = [];
    let left = names.length;
    if (left === 0) return done(null, []);
    for (const name of names) {
      store.read(name, (error, text) => {
        if (text?.includes(word)) found.push(name);
        left -= 1;
        if (left === 0) done(null, found.sort());
      });
    }
  });
}
