package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeSVG writes a drawing as an SVG image.
func writeSVG(w io.Writer, picture *drawing) error {
	var document strings.Builder
	fmt.Fprintf(&document, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %[1]s %[2]s">`+"\n", short(picture.width), short(picture.height))
	document.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for _, shape := range picture.paths {
		document.WriteString(shape.svg())
	}
	// The layout uses the widths of the first font. The other fonts have about the same widths.
	document.WriteString(`<g font-family="Liberation Sans,Arial,Helvetica,sans-serif">` + "\n")
	for _, text := range picture.labels {
		document.WriteString(text.svg())
	}
	document.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, document.String())
	return err
}

// svg returns the SVG element of a path.
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
	var commands strings.Builder
	for i, point := range p.points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		commands.WriteString(command + short(point.x) + "," + short(point.y))
	}
	if p.closed {
		commands.WriteString("Z")
	}
	return fmt.Sprintf(`<path d="%s" %s/>`+"\n", commands.String(), paint)
}

// svg returns the SVG element of a label.
func (l *label) svg() string {
	var element strings.Builder
	fmt.Fprintf(&element, `<text x="%s" y="%s" font-size="%s"`, short(l.at.x), short(l.at.y), short(l.size))
	switch l.anchor {
	case middle:
		element.WriteString(` text-anchor="middle"`)
	case end:
		element.WriteString(` text-anchor="end"`)
	}
	if l.turn != 0 {
		fmt.Fprintf(&element, ` transform="rotate(%s %s %s)"`, short(l.turn), short(l.at.x), short(l.at.y))
	}
	element.WriteString(">")
	_ = xml.EscapeText(&element, []byte(l.text)) // a strings.Builder returns no error
	element.WriteString("</text>\n")
	return element.String()
}

// short rounds to a hundredth of a point.
func short(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	if s = strings.TrimRight(strings.TrimRight(s, "0"), "."); s == "-0" {
		return "0"
	}
	return s
}
