package plot

import (
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// typeface is Liberation Sans, whose letters are as wide as those of Arial and Helvetica.
type typeface struct {
	font *sfnt.Font
	buf  sfnt.Buffer
}

// newFont returns the font that is embedded in the program.
func newFont() *typeface {
	f, err := sfnt.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err) // the font is in the program
	}
	return &typeface{font: f}
}

// segment is a part of the outline of a letter: the begin of a contour, a line to a point,
// or a quadratic curve to the second of two.
type segment struct {
	begins bool
	args   []xy
}

// resolution is how many units a letter of size 1 has: no hinting moves its outline.
const resolution = 2048

// outlines returns the letters of a line whose baseline begins at (0, 0), and its length.
// Pairs of letters have the distances that the font asks for. A letter that the font lacks
// is an empty box.
func (f *typeface) outlines(text string, size float64) (letters [][]segment, length float64) {
	unit := size / (resolution * 64)
	ppem := fixed.I(resolution)
	var before sfnt.GlyphIndex
	for i, r := range []rune(text) {
		glyph, _ := f.font.GlyphIndex(&f.buf, r)
		if i > 0 {
			kern, _ := f.font.Kern(&f.buf, before, glyph, ppem, font.HintingNone)
			length += float64(kern) * unit
		}
		outline, _ := f.font.LoadGlyph(&f.buf, glyph, ppem, nil)
		letters = append(letters, f.letter(outline, length, unit))
		advance, _ := f.font.GlyphAdvance(&f.buf, glyph, ppem, font.HintingNone)
		length += float64(advance) * unit
		before = glyph
	}
	return letters, length
}

// letter moves an outline in the units of the font to its place on the line.
func (f *typeface) letter(outline sfnt.Segments, at, unit float64) []segment {
	out := make([]segment, len(outline))
	for i, s := range outline {
		args := s.Args[:1]
		if s.Op == sfnt.SegmentOpQuadTo {
			args = s.Args[:2]
		}
		out[i].begins = s.Op == sfnt.SegmentOpMoveTo
		for _, p := range args {
			out[i].args = append(out[i].args, xy{at + float64(p.X)*unit, float64(p.Y) * unit})
		}
	}
	return out
}

// width is the length of a line of text in points.
func (f *typeface) width(text string, size float64) float64 {
	_, length := f.outlines(text, size)
	return length
}
