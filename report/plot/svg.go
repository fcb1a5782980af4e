package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeSVG writes a drawing as an SVG image.
func writeSVG(w io.Writer, d *drawing) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %[1]s %[2]s">`+"\n", short(d.width), short(d.height))
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for _, p := range d.paths {
		b.WriteString(p.svg())
	}
	// Few systems have the font whose widths we know; the others have the same widths, or nearly.
	b.WriteString(`<g font-family="Liberation Sans,Arial,Helvetica,sans-serif">` + "\n")
	for _, l := range d.labels {
		b.WriteString(l.svg())
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// svg returns the element of a path.
func (p *path) svg() string {
	paint := fmt.Sprintf(`stroke="#%02x%02x%02x" stroke-width="%s" fill="none"`, p.color.R, p.color.G, p.color.B, short(p.width))
	if p.width == 0 {
		paint = fmt.Sprintf(`fill="#%02x%02x%02x"`, p.color.R, p.color.G, p.color.B)
		if p.translucent {
			paint += fmt.Sprintf(` fill-opacity="%s"`, short(opacity/255.0))
		}
	}
	if p.radius > 0 {
		return fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", short(p.points[0].x), short(p.points[0].y), short(p.radius), paint)
	}
	var line strings.Builder
	for i, at := range p.points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		line.WriteString(command + short(at.x) + "," + short(at.y))
	}
	if p.closed {
		line.WriteString("Z")
	}
	return fmt.Sprintf(`<path d="%s" %s/>`+"\n", line.String(), paint)
}

// svg returns the element of a label.
func (l *label) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<text x="%s" y="%s" font-size="%s"`, short(l.at.x), short(l.at.y), short(l.size))
	if l.anchor != start {
		b.WriteString(map[anchor]string{middle: ` text-anchor="middle"`, end: ` text-anchor="end"`}[l.anchor])
	}
	if l.turn != 0 {
		fmt.Fprintf(&b, ` transform="rotate(%s %s %s)"`, short(l.turn), short(l.at.x), short(l.at.y))
	}
	b.WriteString(">")
	_ = xml.EscapeText(&b, []byte(l.text))
	b.WriteString("</text>\n")
	return b.String()
}

// short rounds to a hundredth of a point.
func short(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	if s = strings.TrimRight(strings.TrimRight(s, "0"), "."); s == "-0" {
		return "0"
	}
	return s
}
