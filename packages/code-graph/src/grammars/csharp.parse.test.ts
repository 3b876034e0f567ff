import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';

describe('csharp', () => {
  it('reads declarations, imports and uses', async () => {
    expect(
      await readLines(
        'csharp',
        `
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
`,
      ),
    ).toEqual({
      symbols: [
        '+module Shapes.Flat',
        '+class Shapes.Flat.Shape',
        'field Shapes.Flat.Shape.size',
        'field Shapes.Flat.Shape.width',
        '+constant Shapes.Flat.Shape.Limit',
        '+field Shapes.Flat.Shape.Count',
        '+method Shapes.Flat.Shape.Shape',
        '+method Shapes.Flat.Shape.Draw',
        'field Shapes.Flat.Shape.Changed',
        '+type Shapes.Flat.Shape.Callback',
        '+enum Shapes.Flat.Shape.Kind',
        '+field Shapes.Flat.Shape.Kind.Big',
        '+field Shapes.Flat.Shape.Kind.Small',
        '+class Shapes.Flat.Shape.Point',
        '+field Shapes.Flat.Shape.Point.X',
        'class Shapes.Flat.Shape.Hidden',
        '+interface Shapes.Flat.IPart',
        '+method Shapes.Flat.IPart.Do',
      ],
      imports: ['System.Text {*}', 'A.B as Short', 'System.Math {*}'],
      references: [
        'type Marked',
        'extends Base',
        'extends IDrawable',
        'type Canvas',
        'value Piece',
        'call Size',
        'call Paint',
        'call this.Own',
        'value Other',
        'value Other.Thing',
        'call Other.Thing.Go',
        'call local.End',
        'type Handler',
      ],
    });
  });

  it('reads a namespace of the whole file', async () => {
    expect(await readLines('csharp', `namespace Shapes.Round; class Circle { public int Size; }`)).toEqual({
      symbols: ['+module Shapes.Round', '+class Shapes.Round.Circle', '+field Shapes.Round.Circle.Size'],
      imports: [],
      references: [],
    });
  });
});
