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

// outlines returns the outlines of the letters in a line of text, and the length of the line. The baseline begins at (0, 0). The font determines the
// distances of letters. A character that the font does not have becomes an empty box.
func (f *typeface) outlines(text string, size float64) (letters [][]segment, length float64) {
	unit := size / (resolution * 64)
	ppem := fixed.I(resolution)
	var previous sfnt.GlyphIndex
	for i, character := range []rune(text) {
		glyph, _ := f.font.GlyphIndex(&f.buf, character)
		if i > 0 {
			kerning, _ := f.font.Kern(&f.buf, previous, glyph, ppem, font.HintingNone)
			length += float64(kerning) * unit
		}
		outline, _ := f.font.LoadGlyph(&f.buf, glyph, ppem, nil)
		letters = append(letters, f.letter(outline, length, unit))
		advance, _ := f.font.GlyphAdvance(&f.buf, glyph, ppem, font.HintingNone)
		length += float64(advance) * unit
		previous = glyph
	}
	return letters, length
}

// letter converts the outline of a letter. offset is the position of the letter on the line, and unit is the size of a unit of the font.
func (f *typeface) letter(outline sfnt.Segments, offset, unit float64) []segment {
	segments := make([]segment, len(outline))
	for i, command := range outline {
		args := command.Args[:1]
		if command.Op == sfnt.SegmentOpQuadTo {
			args = command.Args[:2]
		}
		segments[i].begins = command.Op == sfnt.SegmentOpMoveTo
		for _, control := range args {
			segments[i].args = append(segments[i].args, xy{offset + float64(control.X)*unit, float64(control.Y) * unit})
		}
	}
	return segments
}

// width is the length of a line of text in points.
func (f *typeface) width(text string, size float64) float64 {
	_, length := f.outlines(text, size)
	return length
}
