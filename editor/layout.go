package editor

import (
	"fmt"
	"slices"

	"tilecheck/prism/format"
	"tilecheck/prism/syntax"
)

// Format returns the text of a file in the layout of package format. The error for a text that
// does not parse is a syntax.ErrorList. Layouts of unchanged commands are reused.
func (f *Files) Format(name string) ([]byte, error) {
	d := f.docs[name]
	if d == nil {
		return nil, fmt.Errorf("%s is not open", name)
	}
	if d.isProps() || len(d.text) > MaxText {
		return format.Source(f.opts.Dialect, name, d.text)
	}
	if d.parse(); d.err != nil {
		return nil, d.err
	}
	tree := d.tree
	var known []format.KnownCommand
	for i, p := range d.commands {
		if layout := p.layout.Load(); layout != nil {
			known = append(known, format.KnownCommand{From: p.from, To: p.to, Layout: layout})
			continue
		}
		if tree != d.tree || d.hidden == nil || !d.hidden[i] {
			continue
		}
		whole, err := syntax.ParseFile(d.dialect, name, d.text) // the tree lacks a command without a cached layout
		if err != nil {
			return nil, err
		}
		tree = whole
	}
	keep := func(from int32, layout *format.CommandLayout) {
		at, ok := slices.BinarySearchFunc(d.commands, from, func(p textCommand, from int32) int { return int(p.from - from) })
		if ok {
			d.commands[at].layout.Store(layout)
		}
	}
	return format.Reformat(format.Text{File: name, Src: d.text, Tree: tree, Lexemes: d.outside(known), Known: known, Keep: keep})
}

// outside returns the lexemes except those inside the statements; the first and last of each
// statement stay.
func (d *document) outside(list []format.KnownCommand) []syntax.Lexeme {
	text, all := string(d.text), d.lexemes()
	out := make([]syntax.Lexeme, 0, max(len(all)/4, len(all)-10*len(list)))
	line, at := int32(1), int32(0)
	for i, l := range all {
		for len(list) > 0 && l.from >= list[0].To {
			list = list[1:]
		}
		if len(list) > 0 && l.from > list[0].From && i+1 < len(all) && all[i+1].from < list[0].To {
			continue
		}
		for ; at < l.from; at++ {
			if c := text[at]; c == '\n' || c == '\r' && text[at+1] != '\n' {
				line++
			}
		}
		out = append(out, syntax.Lexeme{Class: l.class, Text: text[l.from:l.to], Span: syntax.Span{
			Start: syntax.Pos{Offset: l.from, Line: line}, Stop: syntax.Pos{Offset: l.to, Line: line},
		}})
	}
	return out
}
