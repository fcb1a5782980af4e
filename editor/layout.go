package editor

import (
	"fmt"
	"slices"

	"tilecheck/prism/format"
	"tilecheck/prism/syntax"
)

// Format returns the text of the named file in the layout of package format. The error for a text that does not parse is a syntax.ErrorList.
// It reuses the layouts of unchanged commands.
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
	known, isComplete := d.knownLayouts()
	tree := d.tree
	if !isComplete {
		whole, err := syntax.ParseFile(d.dialect, name, d.text)
		if err != nil {
			return nil, err
		}
		tree = whole
	}
	keep := func(from int32, layout *format.CommandLayout) {
		i, ok := slices.BinarySearchFunc(d.commands, from, func(c textCommand, from int32) int { return int(c.from - from) })
		if ok {
			d.commands[i].layout.Store(layout)
		}
	}
	return format.Reformat(format.Text{File: name, Src: d.text, Tree: tree, Lexemes: d.lexemesOutside(known), Known: known, Keep: keep})
}

// knownLayouts returns the commands of the document that have a layout from an earlier call of Format. isComplete is false if a command has neither
// a layout nor its place in the tree, where a stub replaces it.
func (d *document) knownLayouts() (known []format.KnownCommand, isComplete bool) {
	isComplete = true
	for i, c := range d.commands {
		if layout := c.layout.Load(); layout != nil {
			known = append(known, format.KnownCommand{From: c.from, To: c.to, Layout: layout})
		} else if d.isHidden(i) {
			isComplete = false
		}
	}
	return known, isComplete
}

// lexemesOutside returns the lexemes of the text without those inside the commands. The first and the last lexeme of each command remain.
func (d *document) lexemesOutside(commands []format.KnownCommand) []syntax.Lexeme {
	text, lexemes := string(d.text), d.lexemes()
	outside := make([]syntax.Lexeme, 0, max(len(lexemes)/4, len(lexemes)-10*len(commands)))
	line, offset := int32(1), int32(0)
	for i, l := range lexemes {
		for len(commands) > 0 && l.from >= commands[0].To {
			commands = commands[1:]
		}
		if len(commands) > 0 && l.from > commands[0].From && i+1 < len(lexemes) && lexemes[i+1].from < commands[0].To {
			continue // neither the first nor the last lexeme of the command
		}
		for ; offset < l.from; offset++ {
			if c := text[offset]; c == '\n' || c == '\r' && text[offset+1] != '\n' {
				line++
			}
		}
		outside = append(outside, syntax.Lexeme{Class: l.class, Text: text[l.from:l.to], Span: syntax.Span{
			Start: syntax.Pos{Offset: l.from, Line: line}, Stop: syntax.Pos{Offset: l.to, Line: line},
		}})
	}
	return outside
}
