import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../src/index.js';

test('values', () => {
  assert.equal(render('Hi {{name}}!', { name: '<Ada>' }), 'Hi &lt;Ada&gt;!');
  assert.equal(render('{{{html}}}', { html: '<b>x</b>' }), '<b>x</b>');
  assert.equal(render('{{none}}', {}), '');
});

test('lists', () => {
  assert.equal(render('{{#each list}}<li>{{this}}</li>{{/each}}', { list: ['a', 'b'] }), '<li>a</li><li>b</li>');
  assert.equal(render('{{#each people}}{{name}} {{/each}}', { people: [{ name: 'x' }, { name: 'y' }] }), 'x y ');
});
