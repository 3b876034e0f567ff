import type { Language } from '../grammars/grammar-of.ts';

/** A text of each language with most of what it declares. The tests of the grammars say what the facts of each are. */
export const sources: Record<Language, string> = {
  typescript: `
export const one = 1;
let two = () => one;
export default function main(a: string, { b, c: d }: Options): Result { const local = a; return run(local, b, d); }
export abstract class Shape<T> extends base.Thing<T> implements Named {
  static count = 0;
  #secret = 1;
  private hidden() {}
  constructor(private readonly size: number) { super(); this.size; }
  abstract area(): number;
  get name(): string { return 'x'; }
}
interface Named { readonly name: string; greet(to: Person): void }
export type Pair = { left: string; swap(): Pair };
enum Color { Red, Green = 2 }
namespace Deep.Inner { export function f() {} function g() {} }
declare module 'other' { export const q: number; }
if (two) { const inner = 1; }
export { two as three, Color };

import whole, { a, type B as C } from './a.ts';
import * as everything from 'node:path';
import 'side-effect';
import old = require('./old');
export * from './all.ts';
export * as named from './named.ts';
export { x, y as default } from './some.ts';
const lazy = await import('./lazy.ts');
type T = import('./typed.ts').T;
a(C, everything.join);
import(computed);
`,
  javascript: `
const fs = require('fs'), { join: j, resolve } = require('path');
const once = require('./once').once;
exports.read = function () { return fs.read(j('a')); };
function plain() {}
Plain.prototype.go = function () {};
class Widget extends EventEmitter { handle = 1; }
module.exports = { plain, Thing: Widget };
(function () { const hidden = 1; var x = require('./inside'); })();
`,
  tsx: `
import { Card } from './card';
export const Page = ({ title }: Props) => <Card.Header><div>{title}</div><Card size={title} /></Card.Header>;
`,
  python: `
LIMIT: int = 1
a, (b, c) = 1, 2
_hidden = 1
__all__ = ["Thing", "_listed"]
def _listed(): pass
class Thing(Base, models.Model, metaclass=Meta):
    size: int
    count = 0
    @property
    async def name(self, q, *args, s: Kind = None) -> "R":
        local = LIMIT
        def inner(): return local
        return [w for w in q if helper(w)] + self.count
if LIMIT:
    def conditional(x): return lambda y: x(y)
else:
    fallback = None
type Alias = list[int]

import os.path as p, sys, a.b
from . import sibling
from ..parent.module import (one, two as second)
from star import *
from __future__ import annotations
importlib.import_module("plugins.x")
def lazy():
    from .late import thing
    return thing(p.join(a.b.c()))
`,
  go: `package shapes

import (
	"fmt"
	r "math/rand"
	. "dotted"
	_ "side"
	"gopkg.in/yaml.v3"
)

const (
	First = iota
	second
)
var X, y int = 1, 2
type Shape struct { Base; *pkg.Other; Size, width int; inner struct { deep int } }
type Named interface { Name(to string) error; fmt.Stringer }
type Alias = Shape
type Box[K comparable] struct { items map[K]int }
func Make[T any](a, b int) (out T, err error) {
	z := 1
	for i, v := range items { fmt.Println(i, v, z, second) }
	return helper(Shape{Size: a}), nil }
func (s *Shape) Area() int { return s.Size * r.Int() }
func (b Box[K]) get() {}
`,
  java: `package com.example.shapes;
import java.util.List;
import static java.lang.Math.abs;
import java.io.*;
@Named("private") public class Shape<T extends Base> extends Parent<T> implements Drawable, other.Sized {
  private static final int LIMIT = 1, OTHER = 2;
  private Color color; String label;
  Shape(int size) { this.size = new Size<>(size); }
  @Override public void draw(Canvas... to) throws Failure { int local = abs(LIMIT); to.draw(local); Runnable r = k -> run(k); super.draw(); }
  private void hidden() {}
  interface Part extends Piece { int weight(); }
  enum Kind { BIG, SMALL; int order; }
  record Point(int x, String y) {}
}
`,
  rust: `
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
  ruby: `
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
  cpp: `
#include <stdio.h>
#include "a/b.h"
#define DOUBLE(x) x * 2
#define LIMIT 1
namespace outer::inner {
class Shape : public Base, private Part<Piece> { public: int size; Shape(); ~Shape(); virtual void draw(int to) = 0; static int count; void inlined() { size = 1; } enum Kind { Big }; };
template<class T> struct Box { T item; };
}
void Shape::draw(int to) { int local; paint(local); this->draw(); other->go(); ns::call(); new Shape(); }
static int hidden(void) { return LIMIT; }
typedef struct { int a; } Plain; typedef int (*callback)(int); struct Forward; struct Named { int a, *b; };
enum Color { Red = 1 }; using Alias = int; extern int shared; int shared = 1, *list[3]; int prototype(int a);
namespace { int anonymous; }
int *pointer(int a) { return 0; }
`,
  csharp: `
using System.Text; using Short = A.B; using static System.Math;
namespace Shapes.Flat {
  [Marked] public abstract class Shape<T> : Base, IDrawable<Canvas> where T : Piece {
    private int size, width = 1; public const int Limit = 1; public int Count { get; set; }
    public Shape(int x) : base(x) { }
    protected void Draw<Q>(string to) { var local = new Size(); Paint(local); this.Own(); Other.Thing.Go(); local?.End(); }
    event Handler Changed; public delegate void Callback(int a);
    public enum Kind { Big, Small = 2 } internal record Point(int X); struct Hidden { }
  }
  interface IPart { void Do(); }
}
namespace Shapes.Round; class Circle { public int Size; }`,
  php: `<?php
namespace App\\Shapes;
use Lib\\Base; use Lib\\Canvas as Board; use function Lib\\paint; use Lib\\{One, Two as Second};
require_once 'boot.php'; include __DIR__ . '/more.php';
abstract class Shape extends Base implements Drawable { use Named; const LIMIT = 1; public static $count = 1; private $hidden;
  public function __construct(private int $size) {}
  protected function draw(Board ...$to): ?Result { $l = new Size(); paint($l); $this->draw(); self::make(); Other::LIMIT; $a->b->c(); } }
interface Drawable extends Part { public function area(); }
trait Named { function name() {} }
enum Suit: string { case Hearts = 'h'; }
function top($x) { return fn($y) => $y; }
const TOP = 1; define('OLD', 2);
`,
  bash: `
source ./a.sh; . "b.sh"
greet() { local x=1; shout "$x"; }
function leave { greet; }
limit=1; readonly LAST=3
`,
  c: `
#include <stdio.h>
#include "a/b.h"
#define DOUBLE(x) x * 2
#define LIMIT 1
static int hidden(void) { return LIMIT; }
typedef struct { int a; } Plain;
int *pointer(struct Named *a) { return a->b; }
`,
};
