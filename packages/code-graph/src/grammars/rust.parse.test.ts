import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';

describe('rust', () => {
  it('reads declarations, imports and uses', async () => {
    expect(
      await readLines(
        'rust',
        `
use std::{io::{self, Read as R}, fmt::*};
pub use crate::shapes::Circle;
use super::parent;
extern crate serde as s;
mod child;
pub struct Shape<T> { pub size: T, hidden: u8 }
pub enum Kind { Small, Big { weight: i32 } }
pub trait Named: Super { fn name(&self) -> String; const MAX: u8; type Item; }
impl<T> Named for Shape<T> { fn name(&self) -> String { let local = 1; self.size.show(local); child::run::<u8>(); shout!(parent); Self::build() } }
impl Shape<u8> { const LOW: u8 = 1; pub(crate) fn build() -> Self { Kind::Small } fn own() {} }
pub const LIMIT: u8 = 1;
static STATE: u8 = 2;
type Alias = Shape<u8>;
macro_rules! shout { () => {} }
mod tests { use super::*; use super::super::up; use self::x::y; fn check() {} }
`,
      ),
    ).toEqual({
      symbols: [
        '+class Shape',
        '+field Shape.size',
        'field Shape.hidden',
        '+enum Kind',
        '+field Kind.Small',
        '+field Kind.Big',
        '+interface Named',
        '+method Named.name',
        '+constant Named.MAX',
        '+type Named.Item',
        '+method Shape.name',
        'constant Shape.LOW',
        '+method Shape.build',
        'method Shape.own',
        '+constant LIMIT',
        'variable STATE',
        'type Alias',
        '+function shout',
        'module tests',
        'function tests.check',
      ],
      imports: [
        'std::io as io',
        'std::io {Read as R}',
        'std::fmt {*}',
        '+crate::shapes {Circle}',
        'super {parent}',
        'serde as s',
        'self::child as child',
        'self {*}',
        'super {up}',
        'self::tests::x {y}',
      ],
      references: [
        'extends Super',
        'type String',
        'extends Named',
        'type Shape',
        'type String',
        'value self.size',
        'call self.size.show',
        'value child',
        'call child.run',
        'call shout',
        'value parent',
        'call Self.build',
        'type Shape',
        'value Kind',
        'value Kind.Small',
        'type Shape',
      ],
    });
  });
});
