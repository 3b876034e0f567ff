import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';

describe('ruby', () => {
  it('reads declarations, imports and uses', async () => {
    expect(
      await readLines(
        'ruby',
        `
require 'json'
require_relative '../a'
autoload :Late, 'late'
module Outer::Inner
  class Shape < Base::Thing
    LIMIT = 1
    attr_accessor :size, :color
    include Named
    def initialize(a, b = 1, *rest, key: 2, &block); @a = a; draw(a); Other.new.run; end
    def self.build; end
    class << self; def make; end; end
    alias_method :create, :make
  end
end
def top; y = 1; y; [1].each { |z| use(z) }; end
Point = Struct.new(:x) do def sum; end end
`,
      ),
    ).toEqual({
      symbols: [
        '+module Outer.Inner',
        '+class Outer.Inner.Shape',
        '+constant Outer.Inner.Shape.LIMIT',
        '+field Outer.Inner.Shape.size',
        '+field Outer.Inner.Shape.color',
        '+method Outer.Inner.Shape.initialize',
        '+method Outer.Inner.Shape.build',
        '+method Outer.Inner.Shape.make',
        '+method Outer.Inner.Shape.create',
        '+method top',
        '+class Point',
        'method Point.sum',
      ],
      imports: ['json', '../a', 'late'],
      references: [
        'value Outer',
        'value Base',
        'extends Base.Thing',
        'extends Named',
        'call draw',
        'value Other',
        'call Other.new',
        'call Other.new.run',
        'call [1].each',
        'call use',
        'value Struct',
        'call Struct.new',
      ],
    });
  });
});
