import fs from 'node:fs';
import path from 'node:path';
import { checkName } from './names.js';

export function openStore(folder, done) {
  fs.mkdir(folder, { recursive: true }, (error) => {
    if (error) return done(error);
    done(null, new Store(folder));
  });
}

class Store {
  #folder;

  constructor(folder) {
    this.#folder = folder;
  }

  read(name, done) {
    const wrong = checkName(name);
    if (wrong) return done(wrong);
    fs.readFile(this.#path(name), 'utf8', (error, text) => {
      if (error?.code === 'ENOENT') return done(null, null);
      done(error, text);
    });
  }

  write(name, text, done) {
    const wrong = checkName(name);
    if (wrong) return done(wrong);
    fs.writeFile(this.#path(name), text, done);
  }

  list(done) {
    fs.readdir(this.#folder, (error, files) => {
      if (error) return done(error);
      done(null, files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4)).sort());
    });
  }

  #path(name) {
    return path.join(this.#folder, `${name}.txt`);
  }
}
