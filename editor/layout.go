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
	doc := f.docs[name]
	if doc == nil {
		return nil, fmt.Errorf("%s is not open", name)
	}
	if doc.isProps() || len(doc.text) > MaxText {
		return format.Source(f.opts.Dialect, name, doc.text)
	}
	if doc.parse(); doc.err != nil {
		return nil, doc.err
	}
	layouts, isComplete := doc.knownLayouts()
	tree := doc.tree
	if !isComplete {
		fullTree, err := syntax.ParseFile(doc.dialect, name, doc.text)
		if err != nil {
			return nil, err
		}
		tree = fullTree
	}
	keep := func(from int32, layout *format.CommandLayout) {
		i, ok := slices.BinarySearchFunc(doc.commands, from, func(cmd textCommand, from int32) int { return int(cmd.from - from) })
		if ok {
			doc.commands[i].layout.Store(layout)
		}
	}
	return format.Reformat(format.Text{File: name, Src: doc.text, Tree: tree, Lexemes: doc.lexemesOutside(layouts), Known: layouts, Keep: keep})
}

// knownLayouts returns the commands of the document that have a layout from an earlier call of Format. isComplete is false if a command has no layout
// and is not in the tree either, because a stub replaces it there.
func (d *document) knownLayouts() (layouts []format.KnownCommand, isComplete bool) {
	isComplete = true
	for i, cmd := range d.commands {
		if layout := cmd.layout.Load(); layout != nil {
			layouts = append(layouts, format.KnownCommand{From: cmd.from, To: cmd.to, Layout: layout})
		} else if d.isHidden(i) {
			isComplete = false
		}
	}
	return layouts, isComplete
}

// lexemesOutside returns the lexemes of the text without those inside the commands. The first and the last lexeme of each command remain.
func (d *document) lexemesOutside(commands []format.KnownCommand) []syntax.Lexeme {
	text, lexemes := string(d.text), d.lexemes()
	outside := make([]syntax.Lexeme, 0, max(len(lexemes)/4, len(lexemes)-10*len(commands)))
	line, offset := int32(1), int32(0)
	for i, current := range lexemes {
		for len(commands) > 0 && current.from >= commands[0].To {
			commands = commands[1:]
		}
		if len(commands) > 0 && current.from > commands[0].From && i+1 < len(lexemes) && lexemes[i+1].from < commands[0].To {
			continue // neither the first nor the last lexeme of the command
		}
		for ; offset < current.from; offset++ {
			if character := text[offset]; character == '\n' || character == '\r' && text[offset+1] != '\n' {
				line++
			}
		}
		outside = append(outside, syntax.Lexeme{Class: current.class, Text: text[current.from:current.to], Span: syntax.Span{
			Start: syntax.Pos{Offset: current.from, Line: line}, Stop: syntax.Pos{Offset: current.to, Line: line},
		}})
	}
	return outside
}
